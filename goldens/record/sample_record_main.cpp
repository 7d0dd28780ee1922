// Writes the test record to a path: the tests run it in processes of their own.
#include <cstdio>

#include "goldens/record/sample_record.hpp"

int main(int argc, char** argv) {
  if (argc != 2) {
    std::fputs("usage: sample_record PATH\n", stderr);
    return 2;
  }
  assay::goldens::write(argv[1], assay::goldens::sample_record());
  return 0;
}
