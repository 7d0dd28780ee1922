// A case of the matrix multiplication with n-bit weights with its operands built.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "properties/gate/family.hpp"
#include "properties/matmul_nbits/point.hpp"

namespace assay::properties::matmul_nbits {

class MatmulWorkload : public Workload {
 public:
  /// Builds its operands from the point alone. Throws BadInput when their source does not exist or does not
  /// fit.
  explicit MatmulWorkload(Point point);

  /// Operands given: of the point's shape and model.
  MatmulWorkload(Point point, fixture::Operands operands);

  std::string token() const override { return print(point_); }
  /// a, b, scales, then zero_points and bias where there are any.
  std::vector<InputBuffer> inputs() const override;
  std::vector<OutputBuffer> outputs() const override;
  std::vector<ScratchBuffer> scratch() const override;
  const std::vector<arithmetic::Acceptance>& acceptance() override;
  kernels::Support supports(std::size_t route, kernels::DeviceKind) const override;
  kernels::Support expected_support(std::size_t route, kernels::DeviceKind) const override;
  ExpectedWitness expected_witness(std::size_t route) const override;
  void launch(std::size_t route, kernels::LaunchContext&, std::span<void* const> inputs,
              std::span<void* const> outputs) const override;
  std::vector<Diagnosis> diagnose(const Contents& actual, const Contents& before) override;
  std::vector<Reduction> reductions(std::size_t output, std::size_t element) const override;

  const Point& point() const { return point_; }
  const fixture::Operands& operands() const { return operands_; }

 private:
  Point point_;
  fixture::Operands operands_;
  std::vector<std::byte> interleaved_;  ///< the weights, where they come so
  std::vector<arithmetic::Acceptance> acceptance_;
};

/// Operands of the point's shape, all zero.
fixture::Operands zero_operands(const Point&);

/// The weights with the nibbles of every 32-bit word in the order e0, e2, e4, e6, e1, e3, e5, e7, as
/// schedule=natural wants them; and back.
std::vector<std::byte> interleaved(std::span<const std::byte> weights);
std::vector<std::byte> deinterleaved(std::span<const std::byte> weights);

/// As the oracle takes them; they view the argument.
oracle::Operands view(const fixture::Operands&);

}  // namespace assay::properties::matmul_nbits
