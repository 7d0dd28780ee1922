// Case tokens, by each family's reader.
#include "properties/fuzz/fuzz.hpp"
#include "properties/gated_delta/point.hpp"
#include "properties/matmul_nbits/point.hpp"
#include "properties/mxfp8_cast/point.hpp"
#include "properties/mxfp8_dequant/point.hpp"

namespace assay::fuzz {
namespace {

/// What is printed of a point is a token of the same point.
template <class Parse>
void stable(Parse parse, std::string_view token) {
  accepted([&] {
    const auto point = parse(token);
    const std::string text = print(point);
    bool same = false;
    const bool read = accepted([&] { same = print(parse(text)) == text; });
    claim(read, "a printed token is refused: " + text);
    claim(same, "a printed token is of another case: " + text);
  });
}

void run(Bytes bytes) {
  const std::string_view token = text_of(bytes);
  stable(properties::mxfp8_cast::parse, token);
  stable(properties::mxfp8_dequant::parse, token);
  stable(properties::matmul_nbits::parse, token);
  stable(properties::gated_delta::parse, token);
}

const Register registered({"tokens", run});

}  // namespace
}  // namespace assay::fuzz
