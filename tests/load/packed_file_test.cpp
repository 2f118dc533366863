#include "core/load/packed_file.h"

#include <string>

#include <doctest/doctest.h>

#include "core/load/byte_source.h"
#include "tests/support/gzip_text.h"
#include "tests/support/numbered_slices.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

std::string unpacked_text(std::string_view packed) {
  const auto source = open_memory(packed);
  REQUIRE(source.ok());
  std::string out(1 << 22, '\0');
  const auto read = (*source)->read(out.data(), out.size());
  REQUIRE(read.ok());
  REQUIRE(*read < out.size());
  out.resize(*read);
  return out;
}

}  // namespace

TEST_CASE("what is packed stays as it is, and plain text becomes gzip of it") {
  const TempFolder folder;
  const std::string text = numbered_slices(20'000);  // more than is read at once
  REQUIRE(text.size() > 1 << 20);
  for (const std::string& packed : {gzip_text(text), gzip_text(text, 0), std::string("\x28\xB5\x2F\xFD damaged")}) {
    const auto file = packed_file(folder.write("packed", packed), 1 << 22);
    REQUIRE(file.ok());
    CHECK(file->is_as_it_was);
    CHECK(file->bytes == packed);
  }
  for (const std::string& plain : {text, std::string("[")}) {
    const auto file = packed_file(folder.write("plain", plain), 1 << 22);
    REQUIRE(file.ok());
    CHECK_FALSE(file->is_as_it_was);
    CHECK(file->bytes.starts_with("\x1f\x8b"));
    CHECK(file->bytes.size() < plain.size() / 4 + 100);
    CHECK(unpacked_text(file->bytes) == plain);
  }
  CHECK_FALSE(packed_file((folder.path() / "none").string(), 1 << 22).ok());
}

TEST_CASE("a file of as many bytes as are asked for is whole, and of one more it is none") {
  const TempFolder folder;
  const std::string text = numbered_slices(2000);
  const std::string packed = gzip_text(text);
  const std::string path = folder.write("packed", packed), plain = folder.write("plain", text);
  CHECK(packed_file(path, packed.size())->bytes == packed);
  CHECK(packed_file(path, packed.size() - 1)->bytes.empty());
  const std::size_t bytes = packed_file(plain, text.size())->bytes.size();
  CHECK(packed_file(plain, bytes)->bytes.size() == bytes);
  CHECK(packed_file(plain, bytes - 1)->bytes.empty());
}
