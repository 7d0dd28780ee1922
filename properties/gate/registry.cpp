#include <algorithm>

#include "properties/gate/battery.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {
namespace {

std::vector<const Family*>& registered() {
  static std::vector<const Family*>
      families;  // constructed on first use: registrations run before main in any order
  return families;
}

std::vector<const Battery*>& registered_batteries() {
  static std::vector<const Battery*> batteries;
  return batteries;
}

}  // namespace

Register::Register(const Family* family) {
  auto& all = registered();
  const auto by_name = [](const Family* a, const Family* b) { return a->name() < b->name(); };
  all.insert(std::upper_bound(all.begin(), all.end(), family, by_name), family);
}

const std::vector<const Family*>& families() { return registered(); }

RegisterBattery::RegisterBattery(const Battery* battery) { registered_batteries().push_back(battery); }

const std::vector<const Battery*>& batteries() { return registered_batteries(); }

}  // namespace assay::properties
