// What the operands of MatMulNBits mean, from the operator's definition: codes, zero points, scales and where
// the padding lies. Numbers stay codes here; the schedules round them, the exact sums do not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <vector>

#include "oracles/matmul_nbits/departure.hpp"
#include "oracles/matmul_nbits/oracle.hpp"

namespace assay::oracles::matmul_nbits {

/// The weights of a column of Y: element k is (codes[k] - zeros[k / block]) * scales[k / block].
struct Column {
  std::vector<std::int16_t> codes;    ///< [terms]
  std::vector<std::int16_t> zeros;    ///< [blocks]
  std::vector<std::uint32_t> scales;  ///< [blocks], codes of the model's format
};

class Decoder {
 public:
  /// Operands of other sizes than the shape asks for are programmer errors. The operands must outlive this.
  Decoder(formats::Format model, const Shape&, const Operands&, Departure = {});

  /// How many elements of K take part: all, unless a departure drops the last.
  std::size_t terms() const { return terms_; }

  std::uint32_t a(std::size_t row, std::size_t k) const;
  std::optional<std::uint32_t> bias(std::size_t col) const;
  /// Fills `column`, whose memory is used again.
  void decode(std::size_t col, Column& column) const;

 private:
  int zero(std::size_t col, std::size_t block) const;
  std::uint32_t scale(std::size_t col, std::size_t block) const;

  formats::Format model_;
  int bytes_;  ///< of a number of the model
  Shape shape_;
  Operands operands_;
  Departure departure_;
  std::size_t terms_;
};

/// Whether a departure can be told from the right algorithm by its decoding, for this shape and these
/// operands; true of departures that do not touch the decoding.
bool decoding_departs(const Departure&, const Shape&, const Operands&);

}  // namespace assay::oracles::matmul_nbits
