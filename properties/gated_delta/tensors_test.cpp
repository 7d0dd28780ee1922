// A tensor's elements are where they are said to be, rounded once; the generated ones begin behind the last.
#include "properties/gated_delta/tensors.hpp"

#include <gtest/gtest.h>

#include <cstring>

#include "fixtures/tensor/errors.hpp"
#include "oracles/arithmetic/acceptance.hpp"

namespace assay::properties::gated_delta {
namespace {

/// Of elements of four bytes: 1 + i 2^-16 as fp32, most of which bf16 cannot hold.
fixtures::Tensor ramp(std::vector<std::size_t> shape, fixtures::DType dtype = fixtures::DType::f32) {
  fixtures::Tensor tensor;
  tensor.name = "t";
  tensor.dtype = dtype;
  tensor.shape = std::move(shape);
  const auto codes = std::make_shared<std::vector<std::byte>>(4 * tensor.elements());
  for (std::size_t i = 0; i < tensor.elements(); ++i)
    arithmetic::store_code(*codes, 4, i, static_cast<std::uint32_t>(0x3F800000 + (i << 7)));
  tensor.bytes = *codes;
  tensor.owner = codes;
  return tensor;
}

Point from(Source source, const fixtures::Tensor& tensor, std::size_t most_keys = ~std::size_t{0}) {
  Point point;
  point.source = source;
  point.on = "f:t";
  return point_for(tensor, point, most_keys);
}

TEST(Tensors, FillStatesOneAfterTheOther) {
  const fixtures::Tensor tensor = ramp({3, 25, 64});  // 4,800 elements: a state and 704 elements of the next
  const Point point = from(Source::states, tensor);
  EXPECT_EQ(point.shape.batch, 2u);
  EXPECT_EQ(point.shape.steps, 1u);
  const fixture::Operands operands = operands_of(tensor, point);
  ASSERT_EQ(operands.state.size(), 2u * 4096 * 4);
  EXPECT_EQ(std::memcmp(operands.state.data(), tensor.bytes.data(), tensor.bytes.size()), 0);
  const fixture::Operands generated = fixture::build(request_of(point));
  EXPECT_EQ(
      std::memcmp(operands.state.data() + 4800 * 4, generated.state.data() + 4800 * 4, (8192 - 4800) * 4), 0);
  EXPECT_EQ(operands.k, generated.k);
}

TEST(Tensors, AreKeysDealtOutOverSequences) {
  const fixtures::Tensor tensor = ramp({65, 128});  // 130 keys for 64 sequences
  const Point point = from(Source::keys, tensor);
  EXPECT_EQ(point.shape.batch, 64u);
  EXPECT_EQ(point.shape.steps, 3u);
  const fixture::Operands operands = operands_of(tensor, point);
  const auto key_code = [&](std::size_t i) { return arithmetic::load_code(operands.k, 2, i); };
  EXPECT_EQ(key_code(0), 0x3F80u);
  EXPECT_EQ(key_code(256), 0x3F80u) << "1 + 2^-8, halfway between two bf16";
  EXPECT_EQ(key_code(257), 0x3F81u);
  EXPECT_EQ(operands.state, fixture::build(request_of(point)).state);
}

TEST(Tensors, AreCutWhereTheKeysAskedForEnd) {
  const fixtures::Tensor tensor = ramp({130, 64});
  const Point point = from(Source::keys, tensor, 128);
  EXPECT_EQ(point.shape.batch, 64u);
  EXPECT_EQ(point.shape.steps, 2u);
  const std::vector<std::byte> keys = operands_of(tensor, point).k;
  ASSERT_EQ(keys.size(), 2u * 128 * 64);
  EXPECT_EQ(arithmetic::load_code(keys, 2, 128 * 64 - 1), 0x3F90u) << "1 + 8191/2^16";
}

TEST(Tensors, OneKeyIsOneSequence) {
  const Point point = from(Source::keys, ramp({64}));
  EXPECT_EQ(point.shape.batch, 1u);
  EXPECT_EQ(point.shape.steps, 1u);
}

std::string refusal(const fixtures::Tensor& tensor) {
  try {
    from(Source::states, tensor);
  } catch (const BadInput& error) {
    return error.what();
  }
  return "";
}

TEST(Tensors, RefusesWhatHasNoRows) {
  EXPECT_EQ(refusal(ramp({3, 65})), "tensor 't': its last dimension 65 is not divisible by 64");
  EXPECT_EQ(refusal(ramp({0, 64})), "tensor 't': it has no elements");
  EXPECT_EQ(refusal(ramp({})), "tensor 't': it is a scalar; the last dimension must be divisible by 64");
  EXPECT_EQ(refusal(ramp({64}, fixtures::DType::i32)),
            "tensor 't': dtype i32 is not supported by gated_delta, which takes f32, f16 and bf16");
}

/// A token may name another shape than the tensor's.
TEST(Tensors, RefusesACaseThatIsTooSmall) {
  Point point = from(Source::states, ramp({64, 64}));
  EXPECT_THROW(operands_of(ramp({65, 64}), point), BadInput);
}

}  // namespace
}  // namespace assay::properties::gated_delta
