// The record: what comes back is what went in, equal content is equal bytes, and no change goes unnoticed.
#include "goldens/record/record.hpp"

#include <gtest/gtest.h>
#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <tuple>

#include "fixtures/files/hdf5_library.hpp"
#include "goldens/record/atomic_file.hpp"
#include "goldens/record/envelope.hpp"
#include "goldens/record/sample_record.hpp"
#include "goldens/record/store.hpp"

namespace assay::goldens {
namespace {

namespace fs = std::filesystem;

class Folder : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = (fs::temp_directory_path() / "assay-record.XXXXXX").string();
    ASSERT_NE(mkdtemp(name.data()), nullptr);
    folder_ = name;
  }
  void TearDown() override { fs::remove_all(folder_); }
  fs::path folder_;
};
class RecordFileTest : public Folder {};
class ReplaceFileTest : public Folder {};
class StoreTest : public Folder {};

std::vector<std::byte> bytes_of_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const auto bytes = std::as_bytes(std::span(text));
  return {bytes.begin(), bytes.end()};
}

void put(const fs::path& path, std::span<const std::byte> bytes) {
  std::ofstream out(path, std::ios::binary);
  out.write(reinterpret_cast<const char*>(bytes.data()), static_cast<std::streamsize>(bytes.size()));
}

/// The message of the BadInput that `action` throws; empty when it throws none.
template <class Action>
std::string refusal(Action action) {
  try {
    action();
  } catch (const BadInput& error) {
    return error.what();
  }
  return {};
}

::testing::AssertionResult begins(const std::string& text, std::string_view start) {
  if (text.starts_with(start)) return ::testing::AssertionSuccess();
  return ::testing::AssertionFailure() << "'" << text << "' does not begin with '" << start << "'";
}

TEST(RecordTest, RoundTrip) {
  const Record record = sample_record();
  EXPECT_TRUE(same(from_bytes(to_bytes(record)), record));
  const Record empty{"none", {}, {}};
  EXPECT_TRUE(same(from_bytes(to_bytes(empty)), empty));
}

TEST(RecordTest, ArraysKeepTheirOrderWhateverTheirNames) {
  const Record back = from_bytes(to_bytes(sample_record()));
  ASSERT_EQ(back.entries.at(5).outputs.size(), 11u);
  for (int i = 0; i < 11; ++i)
    EXPECT_EQ(back.entries[5].outputs[std::size_t(i)].name, "out " + std::to_string(10 - i));
}

TEST(RecordTest, TheDigestSeesEveryPart) {
  using formats::Format;
  const std::vector<CodeArray> base{codes("a", Format::e4m3, {2, 6}), codes("b", Format::e4m3, {3})};
  const std::string expected = digest(base);
  EXPECT_EQ(digest(base), expected);
  std::vector<std::vector<CodeArray>> changed(7, base);
  changed[0][0].name = "c";
  changed[1][0].format = Format::e5m2;
  changed[2][0].shape = {6, 2};
  changed[3][1].bytes[2] ^= std::byte{1};
  std::swap(changed[4][0], changed[4][1]);
  changed[5].pop_back();
  changed[6][0].shape = {12};
  for (std::size_t i = 0; i < changed.size(); ++i) EXPECT_NE(digest(changed[i]), expected) << i;
}

// Pins the hashed text of record.hpp: 1 "a" 4 "e4m3" 1 3 3 and three bytes, lengths as 64-bit little-endian.
TEST(RecordTest, TheDigestIsTheDocumentedOne) {
  std::string text;
  const auto number = [&](char value) { text += value + std::string(7, '\0'); };
  number(1), text += "a", number(4), text += "e4m3", number(1), number(3), number(3), text += "\x01\x02\x03";
  const CodeArray array{"a", formats::Format::e4m3, {3}, {std::byte{1}, std::byte{2}, std::byte{3}}};
  EXPECT_EQ(digest({array}), sha256(std::as_bytes(std::span(text))));
}

TEST(RecordTest, TheContentDigestSeesAllButTheProvenance) {
  const std::string expected = content_digest(sample_record());
  std::vector<Record> changed(7, sample_record());
  changed[0].family = "other";
  changed[1].entries.pop_back();
  std::swap(changed[2].entries[0], changed[2].entries[1]);
  changed[3].entries[0].token = "token=3";
  changed[4].entries[0].route = "register";
  changed[5].entries[0].input_digest[0] ^= 1;
  changed[6].entries[0].output_digest[0] ^= 1;
  for (std::size_t i = 0; i < changed.size(); ++i) EXPECT_NE(content_digest(changed[i]), expected) << i;
  Record record = sample_record();
  record.provenance = {{"source_revision", "another"}};
  EXPECT_EQ(content_digest(record), expected);
}

TEST(RecordTest, ARouteIsKept) {
  Record record = sample_record();
  record.entries[2].route = "register, staged";
  EXPECT_TRUE(same(from_bytes(to_bytes(record)), record));
}

TEST(RecordTest, EveryChangedByteIsNoticed) {
  const auto bytes = to_bytes(sample_record());
  std::size_t in_envelope = 0;
  for (std::size_t at = 0; at < bytes.size(); at += at < envelope_bytes ? 1 : 23) {
    for (const unsigned flip : {0x01u, 0x80u, 0xFFu}) {
      auto changed = bytes;
      changed[at] ^= static_cast<std::byte>(flip);
      ASSERT_NE(refusal([&] { from_bytes(changed); }), "") << "byte " << at << " ^ " << flip;
      in_envelope += at < envelope_bytes;
    }
  }
  EXPECT_EQ(in_envelope, 3 * envelope_bytes);
  EXPECT_EQ(refusal([&] { from_bytes(bytes); }), "");
}

TEST(RecordTest, EveryTruncationAndAnyAdditionIsNoticed) {
  auto bytes = to_bytes(sample_record());
  for (std::size_t size = 0; size < bytes.size(); size += size < 600 ? 1 : 41)
    ASSERT_NE(refusal([&] { from_bytes(std::span(bytes).first(size)); }), "") << size;
  bytes.push_back(std::byte{0});
  EXPECT_NE(refusal([&] { from_bytes(bytes); }), "");
}

std::span<const std::byte> text_bytes(std::string_view text) { return std::as_bytes(std::span(text)); }

TEST(RecordTest, MessagesSayWhatIsWrong) {
  EXPECT_EQ(refusal([] { from_bytes({}); }), "is not a golden record");
  EXPECT_EQ(refusal([] { from_bytes(text_bytes("\x89PNG\r\n\x1a\n")); }), "is not a golden record");
  EXPECT_EQ(
      refusal([] { from_bytes(text_bytes("assay golden record 2\nsha256 ")); }),
      "is a record of another version, 'assay golden record 2'; this program reads 'assay golden record 1'");
  auto bytes = to_bytes(Record{"f", {}, {}});
  const std::string size = std::to_string(bytes.size() - envelope_bytes);
  bytes.push_back(std::byte{0});
  EXPECT_EQ(refusal([&] { from_bytes(bytes); }),
            "is truncated or changed: " + std::to_string(bytes.size() - envelope_bytes) +
                " bytes of content, '" + size + "' stated");
  bytes.pop_back();
  bytes.back() ^= std::byte{1};
  EXPECT_TRUE(begins(refusal([&] { from_bytes(bytes); }), "is changed: SHA-256 of its content is "));
  std::fill(bytes.begin() + 30, bytes.begin() + envelope_bytes, std::byte{'0'});
  EXPECT_EQ(refusal([&] { from_bytes(bytes); }), "is changed: its seal states no length");
}

// Records that were edited with another program and sealed again: the structure itself must be checked.
class ResealedTest : public Folder {
 protected:
  /// Writes the sample, lets `edit` change it through the library, seals it and gives the refusal.
  template <class Edit>
  std::string after(Edit edit) {
    const fs::path path = folder_ / "edited.h5";
    write(path, sample_record());
    {
      const fixtures::QuietHdf5 quiet;
      const fixtures::Hdf5Id file(H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
      EXPECT_TRUE(static_cast<bool>(file));
      EXPECT_GE(edit(file), 0);
    }
    auto bytes = bytes_of_file(path);
    seal(bytes);
    return refusal([&] { from_bytes(bytes); });
  }
};

TEST_F(ResealedTest, AnUntouchedRecordIsAccepted) {
  EXPECT_EQ(after([](hid_t) { return 0; }), "");
}

TEST_F(ResealedTest, ChangedCodesFailTheirDigest) {
  const auto edit = [](hid_t file) {
    const fixtures::Hdf5Id data(H5Dopen2(file, "/entries/000000/outputs/data", H5P_DEFAULT), H5Dclose);
    const std::vector<unsigned char> other(128, 0x38);
    return H5Dwrite(data, H5T_STD_U8LE, H5S_ALL, H5S_ALL, H5P_DEFAULT, other.data());
  };
  EXPECT_TRUE(begins(after(edit), "is not a well-formed record: /entries/000000: the output digest is "));
}

TEST_F(ResealedTest, MissingOrAdditionalPartsAreNamed) {
  const auto deleting = [](const char* path) {
    return [path](hid_t file) { return H5Ldelete(file, path, H5P_DEFAULT); };
  };
  EXPECT_EQ(after(deleting("/provenance")),
            "is not a well-formed record: /: its members are not exactly provenance, entries");
  EXPECT_EQ(after(deleting("/entries/000003")),
            "is not a well-formed record: /entries: '000004' stands where 000003 is expected");
  EXPECT_EQ(after(deleting("/entries/000001/inputs")),
            "is not a well-formed record: /entries/000001: its members are not exactly inputs, outputs");
  EXPECT_TRUE(begins(
      after([](hid_t file) { return H5Lcreate_soft("/entries", file, "alias", H5P_DEFAULT, H5P_DEFAULT); }),
      "is not a well-formed record: /: its members cannot be listed, or are links (HDF5: "));
  EXPECT_EQ(
      after([](hid_t file) { return H5Adelete_by_name(file, "/entries/000002", "token", H5P_DEFAULT); }),
      "is not a well-formed record: /entries/000002: its attributes are not exactly input_digest, "
      "output_digest, token");
  EXPECT_EQ(after([](hid_t file) { return H5Arename(file, "family", "tribe"); }),
            "is not a well-formed record: /: its attributes are not exactly family, record");
}

TEST_F(ResealedTest, ForeignElementsAreNamed) {
  const auto replace_with = [](hid_t type, const char* format) {
    return [=](hid_t file) -> herr_t {
      const char* path = "/entries/000000/outputs/scales";
      if (H5Ldelete(file, path, H5P_DEFAULT) < 0) return -1;
      const hsize_t shape[] = {4, 1};
      const fixtures::Hdf5Id space(H5Screate_simple(2, shape, nullptr), H5Sclose);
      const fixtures::Hdf5Id data(H5Dcreate2(file, path, type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT),
                                  H5Dclose);
      const fixtures::Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(text, strlen(format));
      const fixtures::Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
      const fixtures::Hdf5Id attribute(H5Acreate2(data, "format", text, scalar, H5P_DEFAULT, H5P_DEFAULT),
                                       H5Aclose);
      return H5Awrite(attribute, text, format);
    };
  };
  const std::string where = "is not a well-formed record: /entries/000000/outputs/scales: ";
  EXPECT_EQ(after(replace_with(H5T_STD_U16LE, "e8m0")), where + "its elements are not uint8");
  EXPECT_EQ(after(replace_with(H5T_STD_U8LE, "e9m9")), where + "format 'e9m9' is not known");
  EXPECT_EQ(after(replace_with(H5T_STD_U8LE, "e8m0")),
            where + "shape [4, 1] does not fit the 0 bytes stored");
}

TEST_F(ResealedTest, WhatCannotBeWrittenIsNotRead) {
  const auto attribute_of = [](std::size_t size) {
    return [size](hid_t file) -> herr_t {
      H5Adelete(file, "family");
      const fixtures::Hdf5Id text(H5Tcopy(H5T_C_S1), H5Tclose);
      H5Tset_size(text, size);
      const fixtures::Hdf5Id scalar(H5Screate(H5S_SCALAR), H5Sclose);
      const fixtures::Hdf5Id attribute(H5Acreate2(file, "family", text, scalar, H5P_DEFAULT, H5P_DEFAULT),
                                       H5Aclose);
      return H5Awrite(attribute, text, std::string(size, 'f').c_str());
    };
  };
  EXPECT_EQ(after(attribute_of(longest_text)), "");
  EXPECT_EQ(after(attribute_of(longest_text + 1)),
            "is not a well-formed record: /: attribute 'family' is not one fixed-length text of at most "
            "60000 bytes");
}

TEST_F(RecordFileTest, EqualContentIsEqualBytesInProcessesOfTheirOwn) {
  // The second process fills every allocation with 0xA5: an uninitialised byte in the file would differ. The
  // first record is a second older: a timestamp would differ.
  const std::string program = ASSAY_SAMPLE_RECORD;
  const fs::path a = folder_ / "a.h5", b = folder_ / "b.h5";
  ASSERT_EQ(std::system((program + " " + a.string()).c_str()), 0);
  sleep(1);
  ASSERT_EQ(std::system(("MALLOC_PERTURB_=90 " + program + " " + b.string()).c_str()), 0);
  ASSERT_GT(fs::file_size(a), 10'000u);
  EXPECT_EQ(bytes_of_file(a), bytes_of_file(b));
  EXPECT_EQ(bytes_of_file(a), to_bytes(sample_record()));
}

TEST_F(RecordFileTest, WriteAndRead) {
  const fs::path path = folder_ / "one.h5";
  write(path, sample_record());
  EXPECT_TRUE(same(read(path), sample_record()));
  struct stat status {};
  ASSERT_EQ(stat(path.c_str(), &status), 0);
  EXPECT_EQ(status.st_mode & 0777, 0644u);
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1) << "no temporary file stays";
}

TEST_F(RecordFileTest, MessagesNameTheFile) {
  const fs::path missing = folder_ / "missing.h5";
  EXPECT_EQ(refusal([&] { read(missing); }), missing.string() + ": no such file");
  EXPECT_EQ(refusal([&] { read(folder_); }), folder_.string() + ": is a directory");
  const fs::path text = folder_ / "text.h5";
  put(text, text_bytes("hello"));
  EXPECT_EQ(refusal([&] { read(text); }), text.string() + ": is not a golden record");
  const fs::path nowhere = folder_ / "no" / "such.h5";
  EXPECT_EQ(refusal([&] { write(nowhere, sample_record()); }),
            nowhere.string() + ": cannot be written: no temporary file beside it: No such file or directory");
}

/// Whether a process that is killed at that moment of replace_file() dies there.
bool killed_at(FileStep moment, const fs::path& path, std::string_view content) {
  const pid_t pid = fork();
  if (pid == 0) {
    replace_file(path, text_bytes(content), [&](FileStep step) {
      if (step == moment) raise(SIGKILL);
    });
    _exit(0);
  }
  int status = 0;
  return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL;
}

TEST_F(ReplaceFileTest, AKillLeavesTheOldFileOrTheNew) {
  const fs::path path = folder_ / "golden.h5";
  const auto temporaries = [&] {
    std::size_t count = 0;
    for (const StoredFile& file : Store{folder_.parent_path()}.files(folder_.filename().string()))
      count += file.kind == FileKind::temporary && file.record == "golden";
    return count;
  };
  put(path, text_bytes("old"));
  std::size_t left = 0;
  for (const FileStep step :
       {FileStep::created, FileStep::half_written, FileStep::written, FileStep::flushed}) {
    EXPECT_TRUE(killed_at(step, path, "new content"));
    EXPECT_EQ(bytes_of_file(path).size(), 3u);
    EXPECT_EQ(temporaries(), ++left) << "the leftover is known by its name";
  }
  EXPECT_TRUE(killed_at(FileStep::renamed, path, "new content"));
  EXPECT_EQ(bytes_of_file(path).size(), 11u);
  EXPECT_EQ(temporaries(), left);
  EXPECT_FALSE(killed_at(FileStep::removed, path, "whole")) << "nothing is removed, so nothing died";
  EXPECT_EQ(bytes_of_file(path).size(), 5u);
}

TEST(TemporaryTest, NamesAreRecognised) {
  EXPECT_EQ(target_of_temporary(".a.h5.Xy12Z0"), "a.h5");
  EXPECT_EQ(target_of_temporary(".a.pending.h5.abcdef"), "a.pending.h5");
  for (const char* name : {"a.h5.Xy12Z0", ".a.h5", ".a.h5.Xy12Z", ".a.h5.Xy-2Z0", "..Xy12Z0", ".Xy12Z0", ""})
    EXPECT_EQ(target_of_temporary(name), "") << name;
}

TEST_F(ReplaceFileTest, AFailedRenameLeavesNothing) {
  const fs::path path = folder_ / "folder";
  fs::create_directory(path);
  EXPECT_EQ(refusal([&] { replace_file(path, text_bytes("x")); }),
            path.string() + ": cannot be written: renaming: Is a directory");
  EXPECT_EQ(std::distance(fs::directory_iterator(folder_), {}), 1);
}

TEST_F(StoreTest, FilesAreWhatTheirNamesSay) {
  const fs::path family = folder_ / "cast";
  fs::create_directories(family / "hardware" / "deep");
  const std::vector<std::tuple<const char*, FileKind, const char*>> expected = {
      {".a.h5.Xy12Z0", FileKind::temporary, "a"},
      {".b.pending.h5.Xy12Z0", FileKind::temporary, "b"},
      {".hidden.h5", FileKind::other, ""},
      {"CMakeLists.txt", FileKind::build, ""},
      {"a.h5", FileKind::approved, "a"},
      {"a.pending.h5", FileKind::pending, "a"},
      {"cases.txt", FileKind::other, ""},
      {"hardware/.gitkeep", FileKind::build, ""},
      {"hardware/cases.txt", FileKind::list, ""},
      {"hardware/deep/a.h5", FileKind::other, ""},
      {"hardware/expected.txt", FileKind::list, ""},
      {"hardware/h200.h5", FileKind::approved, "hardware/h200"},
      {"hardware/h200.pending.h5", FileKind::pending, "hardware/h200"},
      {"notes.md", FileKind::other, ""},
  };
  for (const auto& [name, kind, record] : expected) put(family / name, text_bytes("x"));
  const auto files = Store{folder_}.files("cast");
  ASSERT_EQ(files.size(), expected.size());
  for (std::size_t i = 0; i < files.size(); ++i) {
    const auto& [name, kind, record] = expected[i];
    EXPECT_EQ(files[i].path, family / name);
    EXPECT_EQ(files[i].kind, kind) << name;
    EXPECT_EQ(files[i].record, record) << name;
  }
  EXPECT_EQ(Store{folder_}.approved("cast", "hardware/h200"), family / "hardware" / "h200.h5");
  EXPECT_EQ(Store{folder_}.pending("cast", "a"), family / "a.pending.h5");
  put(folder_ / "file", text_bytes("x"));
  EXPECT_EQ(refusal([&] { Store{folder_}.files("file"); }),
            (folder_ / "file").string() + ": cannot be listed: Not a directory");
}

}  // namespace
}  // namespace assay::goldens
