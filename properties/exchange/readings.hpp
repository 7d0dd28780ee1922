// What tensors that somebody offers for judging can be: what the readings of all families share.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fixtures/tensor/errors.hpp"
#include "properties/gate/family.hpp"

namespace assay::properties {

/// Why a tensor that was offered is refused, "tensor 'NAME': REASON", for callers that know its file.
class RefusedTensor : public BadInput {
 public:
  RefusedTensor(const std::string& name, std::string_view reason, std::size_t unknown_names);

  std::string name;
  std::size_t unknown_names;  ///< how many of all that were offered the family has no buffer for
};

/// Tensors offered for a case of one family, by name.
class Offer {
 public:
  /// Throws RefusedTensor for a tensor that is none of `names` (with the nearest) or is offered twice.
  /// `tensors` must outlive it.
  Offer(std::string_view family, std::span<const OfferedTensor> tensors,
        std::initializer_list<std::string_view> names);

  const OfferedTensor* find(std::string_view name) const;  ///< null when it is not there
  /// Throws BadInput when it is not there.
  const OfferedTensor& need(std::string_view name) const;

 private:
  std::string_view family_;
  std::span<const OfferedTensor> tensors_;
};

/// Throws RefusedTensor.
[[noreturn]] void refuse(const OfferedTensor&, const std::string& reason);

/// Those of `formats` whose codes the tensors of these names that are there can all hold: of a float its own,
/// of an integer every one of its width. Throws BadInput naming the tensor when there are none.
std::vector<formats::Format> formats_of(const Offer&, std::initializer_list<std::string_view> names,
                                        std::initializer_list<formats::Format> formats);

/// Throws BadInput unless the tensor, where it is there, can hold codes of one of `formats` in that shape.
void check_shape(const Offer&, std::string_view name, const std::vector<std::size_t>& shape);

/// [product of the leading dimensions, last dimension]; of a scalar [1, 1].
std::pair<std::size_t, std::size_t> matrix_of(const OfferedTensor&);

/// "key=value" for each value, or for the name of each format.
std::vector<std::string> parts(std::string_view key, std::initializer_list<std::string_view> values);
std::vector<std::string> parts(std::string_view key, const std::vector<formats::Format>& values);

/// All combinations of one of each list, joined with commas, the first list slowest.
std::vector<std::string> combinations(const std::vector<std::vector<std::string>>& lists);

/// Throws BadInput for a part of "key=value,key=value" of another form, and for a key that is given twice.
void check_contracts(std::string_view contracts);

/// The value that "key=value,key=value" gives a key.
std::optional<std::string> value_of(std::string_view contracts, std::string_view key);

/// Those of `readings` ("key=value,...") in which every key of `fixed` has the value that it has there.
/// Throws BadInput naming the key when `fixed` is malformed, has a key that is none of `keys`, or leaves
/// nothing.
std::vector<std::string> agreeing(const std::vector<std::string>& readings, std::string_view fixed,
                                  std::initializer_list<std::string_view> keys);

}  // namespace assay::properties
