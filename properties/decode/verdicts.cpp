#include "properties/decode/verdicts.hpp"

#include <fmt/core.h>

#include <algorithm>
#include <set>
#include <tuple>

#include "properties/gate/describe.hpp"

namespace assay::properties::decode {
namespace {

Finding finding_of(Code code, std::string pattern, std::string summary) {
  Finding finding;
  finding.code = code;
  finding.summary = std::move(summary);
  if (!pattern.empty()) finding.patterns = {std::move(pattern)};
  return finding;
}

/// What the witness alone contradicts; the same for both checks.
std::vector<Finding> check_counts(const Casts& direct, const Casts& staged) {
  std::vector<Finding> findings;
  for (const auto& [casts, with] : {std::pair(&direct, "without the lever"), std::pair(&staged, "with it")}) {
    if (casts->casts == casts->cast_launches) continue;
    findings.push_back(finding_of(Code::wrong_witness, "counter against launches",
                                  fmt::format("{}: cast.launches = {}, but narrow_staging was launched {} "
                                              "times",
                                              with, grouped(casts->casts), grouped(casts->cast_launches))));
  }
  if (staged.accepted > 0 || staged.withheld != staged.nodes) {
    findings.push_back(
        finding_of(Code::wrong_witness, "lever without effect",
                   fmt::format("with the lever {} direct stores were accepted, and {} of {} "
                               "nodes withheld the offer",
                               grouped(staged.accepted), grouped(staged.withheld), grouped(staged.nodes))));
  }
  if (direct.withheld > 0) {
    findings.push_back(
        finding_of(Code::wrong_witness, "offer withheld",
                   fmt::format("without the lever {} nodes made no offer", grouped(direct.withheld))));
  }
  if (staged.cast_launches != staged.nodes) {
    findings.push_back(finding_of(
        Code::wrong_witness, "cast left out",
        fmt::format("with the lever every node casts once, and {} launches of narrow_staging are not {}",
                    grouped(staged.cast_launches), grouped(staged.nodes))));
  }
  const bool removed_all = direct.cast_launches + direct.accepted == staged.cast_launches;
  if (!removed_all && direct.cast_launches == staged.cast_launches) {
    findings.push_back(
        finding_of(Code::wrong_witness, "cast after a direct store",
                   fmt::format("{} casts with the lever and without it, though {} direct stores "
                               "were accepted",
                               grouped(direct.cast_launches), grouped(direct.accepted))));
  } else if (!removed_all) {
    findings.push_back(finding_of(
        Code::wrong_witness, "casts against direct stores",
        fmt::format("{} casts with the lever, {} without it: the difference is not the {} direct "
                    "stores accepted",
                    grouped(staged.cast_launches), grouped(direct.cast_launches), grouped(direct.accepted))));
  }
  return findings;
}

Judgement vacuous(std::string reason) { return {Verdict::vacuous, {}, std::move(reason)}; }

Judgement decided(std::vector<Finding> findings) {
  const Verdict verdict = findings.empty() ? Verdict::pass : Verdict::fail;
  return {verdict, std::move(findings), ""};
}

/// Why these texts could not show a difference; empty when they could.
std::string degenerate(const std::vector<std::vector<unsigned>>& texts) {
  if (texts.size() < 2) return "there are not two texts";
  for (const auto& text : texts) {
    const std::size_t distinct = std::set<unsigned>(text.begin(), text.end()).size();
    if (distinct < least_distinct_tokens)
      return fmt::format("a text has {} distinct tokens, fewer than {}", distinct, least_distinct_tokens);
  }
  const std::size_t shorter = std::min(texts[0].size(), texts[1].size());
  if (std::equal(texts[0].begin(), texts[0].begin() + static_cast<std::ptrdiff_t>(shorter), texts[1].begin()))
    return "two prompts give the same text";
  return "";
}

/// The first token that differs; empty when none does.
std::string first_difference(const RunRecord& a, const RunRecord& b) {
  if (a.texts.size() != b.texts.size())
    return fmt::format("{} texts against {}", a.texts.size(), b.texts.size());
  for (std::size_t i = 0; i < a.texts.size(); ++i) {
    if (a.texts[i].size() != b.texts[i].size())
      return fmt::format("text {} has {} tokens against {}", i, a.texts[i].size(), b.texts[i].size());
    const auto [at, other] = std::mismatch(a.texts[i].begin(), a.texts[i].end(), b.texts[i].begin());
    if (at == a.texts[i].end()) continue;
    return fmt::format("token {} of text {} is {} against {}", at - a.texts[i].begin(), i, *at, *other);
  }
  return "";
}

bool same_witness(const RunRecord& a, const RunRecord& b) {
  const auto counts = [](const RunRecord& run) {
    return std::tuple(run.device, run.device_name, run.casts.launches, run.casts.casts,
                      run.casts.cast_launches, run.casts.accepted, run.casts.withheld);
  };
  return counts(a) == counts(b);
}

}  // namespace

std::string_view to_string(Phase phase) {
  constexpr std::array<std::string_view, phases> names = {"prefill", "rows", "step"};
  return names[static_cast<std::size_t>(phase)];
}

Casts total(const PhaseCasts& casts) {
  Casts sum;
  for (const Casts& phase : casts) sum += phase;
  return sum;
}

Judgement judge_simulation(const Simulation& simulation) {
  const Casts direct = total(simulation.direct), staged = total(simulation.staged);
  if (direct.launches == 0 || staged.launches == 0) return vacuous("nothing was launched");
  std::vector<Finding> findings = check_counts(direct, staged);
  for (const Phase phase : {Phase::prefill, Phase::rows}) {
    const Casts& casts = simulation.direct[static_cast<std::size_t>(phase)];
    if (casts.accepted == 0) continue;
    findings.push_back(finding_of(
        Code::wrong_witness, "direct store of several rows",
        fmt::format("nodes of phase '{}' write several rows and may accept no direct store; of {} nodes {} "
                    "were accepted",
                    to_string(phase), grouped(casts.nodes), grouped(casts.accepted))));
  }
  const Casts& steps = simulation.direct[static_cast<std::size_t>(Phase::step)];
  if (steps.accepted > 0 && steps.accepted != steps.nodes) {
    const bool fewer = steps.accepted < steps.nodes;
    findings.push_back(finding_of(Code::wrong_witness,
                                  fewer ? "direct store declined" : "offer accepted twice",
                                  fmt::format("{} nodes of one row took {} direct stores",
                                              grouped(steps.nodes), grouped(steps.accepted))));
  }
  if (simulation.differing_nodes > 0) {
    Finding finding = finding_of(
        Code::property_failed, "direct store differs from staging",
        fmt::format("{} nodes have other bits with the lever", grouped(simulation.differing_nodes)));
    finding.notes.push_back(simulation.first_difference);
    findings.push_back(std::move(finding));
  }
  for (const kernels::GuardDamage& damage : simulation.damage) {
    findings.push_back(
        finding_of(Code::guard_damaged, "",
                   fmt::format("buffer '{}': {} bytes of its guard zone were written, first at "
                               "offset {}",
                               damage.buffer, damage.bytes, damage.first_offset)));
  }
  if (findings.empty() && direct.accepted == 0) return vacuous("no direct store was accepted");
  for (std::size_t phase = 0; findings.empty() && phase < phases; ++phase) {
    if (2 * simulation.numbers[phase] < simulation.elements[phase] || simulation.elements[phase] == 0) {
      return vacuous(fmt::format("of {} results of phase '{}' {} are finite and not zero",
                                 grouped(simulation.elements[phase]), to_string(static_cast<Phase>(phase)),
                                 grouped(simulation.numbers[phase])));
    }
  }
  return decided(std::move(findings));
}

std::string describe_casts(const Simulation& simulation) {
  const Casts direct = total(simulation.direct), staged = total(simulation.staged);
  const std::uint64_t fewer =
      staged.cast_launches > direct.cast_launches ? staged.cast_launches - direct.cast_launches : 0;
  return fmt::format("casts {} with the lever, {} without it: {} fewer; {} direct stores accepted",
                     grouped(staged.cast_launches), grouped(direct.cast_launches), grouped(fewer),
                     grouped(direct.accepted));
}

Judgement judge_levers(const RunRecord& direct, const RunRecord& staged, std::string_view device,
                       std::string_view device_name) {
  std::vector<Finding> findings;
  for (const RunRecord* run : {&direct, &staged}) {
    if (run->device == device && run->device_name == device_name) continue;
    findings.push_back(finding_of(Code::wrong_witness, "another device",
                                  fmt::format("{} ({}) was to run, the witness names {} ({})", device,
                                              device_name, run->device, run->device_name)));
    return decided(std::move(findings));
  }
  if (direct.casts.launches == 0 || staged.casts.launches == 0) return vacuous("nothing was launched");
  if (direct.restore_staging || !staged.restore_staging)
    return vacuous("a run was compared with one under the same lever");
  if (direct.casts.accepted == 0 && staged.casts.accepted == 0)
    return vacuous("no direct store was accepted");
  if (same_witness(direct, staged)) return vacuous("two runs that the witness cannot tell apart");
  findings = check_counts(direct.casts, staged.casts);
  if (const std::string difference = first_difference(direct, staged); !difference.empty()) {
    findings.push_back(finding_of(Code::property_failed, "tokens differ",
                                  "greedy decode without the lever and with it: " + difference));
  }
  if (findings.empty()) {
    if (std::string why = degenerate(direct.texts); !why.empty()) return vacuous(std::move(why));
  }
  return decided(std::move(findings));
}

Judgement judge_devices(const RunRecord& cpu, const RunRecord& cuda) {
  if (cpu.device == cuda.device) return vacuous("a device was compared with itself");
  std::vector<Finding> findings;
  if (cpu.device != "cpu" || cuda.device != "cuda") {
    findings.push_back(finding_of(
        Code::wrong_witness, "another device",
        fmt::format("cpu and cuda were to run, the witnesses name {} and {}", cpu.device, cuda.device)));
    return decided(std::move(findings));
  }
  if (cpu.casts.launches == 0 || cuda.casts.launches == 0) return vacuous("nothing was launched");
  if (const std::string difference = first_difference(cpu, cuda); !difference.empty())
    findings.push_back(
        finding_of(Code::devices_differ, "tokens differ", "greedy decode on cpu and cuda: " + difference));
  if (findings.empty()) {
    if (std::string why = degenerate(cpu.texts); !why.empty()) return vacuous(std::move(why));
  }
  return decided(std::move(findings));
}

}  // namespace assay::properties::decode
