// "FILE:TENSOR".
#include "properties/fuzz/fuzz.hpp"

namespace assay::fuzz {
namespace {

void run(Bytes bytes) {
  const std::string_view text = text_of(bytes);
  const fixtures::TensorPath parts = fixtures::parse_tensor_path(text);
  const std::string whole = parts.file.string();
  const bool split = whole.size() != text.size();
  claim(split ? whole + ":" + parts.tensor == text : whole == text && parts.tensor.empty(),
        "the parts are not the whole");
  // Opened is what the text names; the message of what cannot be opened is all that is of interest here.
  std::error_code ignored;
  if (!std::filesystem::exists(parts.file, ignored))
    claim(!accepted([&] { fixtures::open_tensor_file(parts.file); }),
          "a file that does not exist was opened");
}

const Register registered({"tensor_path", run});

}  // namespace
}  // namespace assay::fuzz
