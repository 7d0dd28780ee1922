#include "properties/fuzz/cases.hpp"

#include <fmt/core.h>

#include <cstdlib>
#include <fstream>
#include <sstream>

#include "properties/gated_delta/point.hpp"
#include "properties/matmul_nbits/point.hpp"
#include "properties/mxfp8_cast/point.hpp"
#include "properties/mxfp8_dequant/point.hpp"

namespace assay::fuzz {
namespace {

using namespace properties;

constexpr std::size_t most = std::size_t{1} << 14;

bool is_cheap(const mxfp8_cast::Point& point) {
  const auto& shape = point.shape;
  return point.source == mxfp8_cast::Source::pattern && shape.rows * shape.cols <= most &&
         shape.rowwise.rows * shape.rowwise.stride <= most &&
         shape.colwise.rows * shape.colwise.stride <= most;
}

bool is_cheap(const mxfp8_dequant::Point& point) {
  const auto& shape = point.shape;
  return point.source != mxfp8_dequant::Source::file && shape.rows * shape.cols <= most &&
         shape.scale_rows * shape.scale_stride <= most;
}

bool is_cheap(const matmul_nbits::Point& point) {
  const auto& shape = point.shape;
  return point.source == matmul_nbits::Source::pattern && shape.m <= most && shape.n <= most &&
         shape.k <= most && shape.m * shape.n * shape.k <= most && shape.m * shape.k <= most &&
         shape.n * shape.row_bytes() <= most;
}

bool is_cheap(const gated_delta::Point& point) {
  const auto shape = gated_delta::shape_of(point);
  const auto fits = [](std::initializer_list<std::size_t> factors) {
    std::size_t product = 1;  // a factor is at most 2^24
    for (const std::size_t factor : factors)
      if ((product *= factor) > most) return false;
    return true;
  };
  return point.source == gated_delta::Source::pattern &&
         fits({shape.pool, shape.value_heads, shape.key_dim, shape.value_dim}) &&
         fits({shape.batch, shape.steps, shape.value_heads, shape.key_dim, shape.value_dim}) &&
         fits({shape.batch, shape.steps, shape.key_heads, shape.key_dim}) &&
         fits({shape.batch, shape.steps, shape.a_stride}) && fits({shape.batch, shape.steps, shape.b_stride});
}

}  // namespace

bool is_cheap(const CaseText& text) {
  try {
    if (text.family == "gated_delta") return is_cheap(gated_delta::parse(text.token));
    if (text.family == "matmul_nbits") return is_cheap(matmul_nbits::parse(text.token));
    if (text.family == "mxfp8_cast") return is_cheap(mxfp8_cast::parse(text.token));
    if (text.family == "mxfp8_dequant") return is_cheap(mxfp8_dequant::parse(text.token));
  } catch (const BadInput&) {  // so says build() too
  }
  return true;
}

void write_codes(std::string_view codes, std::size_t width, std::size_t first,
                 std::vector<std::byte>& contents) {
  std::istringstream entries{std::string(codes)};
  for (std::string entry; entries >> entry;) {
    const std::size_t star = entry.find('*');
    const unsigned long code = std::stoul(entry.substr(0, star), nullptr, 16);
    unsigned long times = star == std::string::npos ? 1 : std::stoul(entry.substr(star + 1));
    for (; times > 0; --times, ++first)
      for (std::size_t i = 0; i < width; ++i)
        contents.at(first * width + i) = static_cast<std::byte>(code >> (8 * i));
  }
}

void claim_same_contents(const Workload& one, const Workload& other, std::string_view what) {
  claim(contents_of(given(one)) == contents_of(given(other)), fmt::format("{} has other contents", what));
}

std::vector<std::vector<std::byte>> right_outputs(Workload& workload) {
  std::vector<std::vector<std::byte>> outputs;
  for (const arithmetic::Acceptance& one : workload.acceptance()) {
    claim(one.exact() && one.untouched.empty(), "not a case of which everything is known");
    outputs.push_back(one.lo);
  }
  return outputs;
}

ScratchFolder::ScratchFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "assay-fuzz.XXXXXX").string();
  if (mkdtemp(name.data()) == nullptr) throw std::runtime_error("no folder " + name);
  path_ = name;
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void put(const std::filesystem::path& path, Bytes bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
  if (!out.flush()) throw std::runtime_error("no file " + path.string());
}

}  // namespace assay::fuzz
