// Pickles: what is read, and what ends in a sentence. Nothing is ever run, and no number in a file decides how much is
// allocated.
#include "core/snapshot/pickle.h"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <doctest/doctest.h>

#include "tests/support/pickle_bytes.h"

using namespace gapscope;
using namespace gapscope::test;
using namespace std::string_literals;

namespace {

// Whole text in memory, a few bytes at a time where asked for.
class Bytes final : public ByteSource {
 public:
  explicit Bytes(std::string text, std::size_t most = ~std::size_t{0}) : text_(std::move(text)), most_(most) {}
  Result<std::size_t> read(char* into, std::size_t size) override {
    const std::size_t n = std::min({size, most_, text_.size() - at_});
    text_.copy(into, n, at_);
    at_ += n;
    return n;
  }
  std::uint64_t file_bytes_read() const override { return at_; }
  std::uint64_t file_bytes_total() const override { return text_.size(); }

 private:
  std::string text_;
  std::size_t most_, at_ = 0;
};

// As a disk that fails.
class Failing final : public ByteSource {
 public:
  explicit Failing(std::string message) : message_(std::move(message)) {}
  Result<std::size_t> read(char*, std::size_t) override { return Error{message_}; }
  std::uint64_t file_bytes_read() const override { return 0; }
  std::uint64_t file_bytes_total() const override { return 0; }

 private:
  std::string message_;
};

PickleValues values(const std::string& pickle) {
  Bytes source(pickle);
  auto read = read_pickle(source);
  if (!read) FAIL(read.error().message);
  return std::move(*read);
}

std::string trouble(const std::string& pickle) {
  Bytes source(pickle);
  const auto read = read_pickle(source);
  return read ? "" : read.error().message;
}

std::string le32(std::uint32_t n) {
  std::string out;
  for (unsigned i = 0; i < 4; ++i) out += static_cast<char>(n >> (8 * i) & 0xff);
  return out;
}

}  // namespace

TEST_CASE("what the reading of bytes says is passed on as it is") {
  for (const std::string message :
       {"Reading x failed after 0 bytes: Input/output error.", "The file is damaged. Copy it again."}) {
    Failing source(message);
    const auto read = read_pickle(source);
    REQUIRE(!read);
    CHECK(read.error().message == message);
  }
}

TEST_CASE("values of a pickle are what Python has") {
  // {'a': [1, -2, 65535, 1 << 62, -(1 << 200), 2.5], 'b': (None, True, 'x'), 'c': b'y'}
  const std::string a = pickled_list({"K\1", "J" + le32(0xffff'fffe), "M\xff\xff", pickled(std::int64_t{1} << 62),
                                      "\x8a\x1a" + std::string(25, '\0') + "\xff", "G\x40\x04\0\0\0\0\0\0"s});
  const PickleValues v =
      values("\x80\5\x95\7\0\0\0\0\0\0\0"s + pickled_dict({{"a", a}, {"b", "N\x88\x8c\1x\x87"}, {"c", "C\1y"}}) + ".");
  const auto list = v.items(v.at(v.root(), "a"));
  REQUIRE(list.size() == 6);
  CHECK(v.integer(list[0]) == 1);
  CHECK(v.integer(list[1]) == -2);
  CHECK(v.integer(list[2]) == 65535);
  CHECK(v.integer(list[3]) == std::int64_t{1} << 62);
  CHECK(v.integer(list[4]) == std::numeric_limits<std::int64_t>::min());  // stops at the end
  CHECK(v.real(list[5]) == 2.5);
  const auto tuple = v.items(v.at(v.root(), "b"));
  REQUIRE(tuple.size() == 3);
  CHECK(tuple[0] == PickleValue());
  CHECK(v.integer(tuple[1]) == 1);
  CHECK(v.text(tuple[2]) == "x");
  CHECK(v.text(v.at(v.root(), "c")) == "y");
  CHECK(v.at(v.root(), "d") == PickleValue());
}

TEST_CASE("numbers of every length and sign") {
  for (const std::int64_t n :
       {std::int64_t{0}, std::int64_t{-1}, std::int64_t{1} << 58, std::int64_t{1} << 59, (std::int64_t{1} << 59) - 1,
        -(std::int64_t{1} << 59), -(std::int64_t{1} << 59) - 1, std::numeric_limits<std::int64_t>::max()})
    CHECK(values(whole_pickle(pickled(n))).integer(values(whole_pickle(pickled(n))).root()) == n);
  const PickleValues address = values("\x80\4\x8a\6\0\0\0\0\0\x7f."s);
  CHECK(address.integer(address.root()) == std::int64_t{0x7f} << 40);
}

TEST_CASE("what would run code is refused, with its name and place") {
  CHECK(trouble("\x80\2cposix\nsystem\nX\2\0\0\0ls\x85R."s) ==
        "The file is a pickle that would run code: GLOBAL (\"posix.system\") at byte 2. Nothing was run; do not load it in "
        "Python.");
  CHECK(trouble("\x80\4\x8c\5posix\x8c\6system\x93\x8c\2ls\x85R."s).find("STACK_GLOBAL (\"posix.system\") at byte 17") !=
        std::string::npos);
  for (const auto& row : {std::pair("R"s, "REDUCE"),
                          {"b"s, "BUILD"},
                          {"i"s, "INST"},
                          {"o"s, "OBJ"},
                          {"\x81"s, "NEWOBJ"},
                          {"\x92"s, "NEWOBJ_EX"},
                          {"\x82\1"s, "EXT1"},
                          {"\x83\1\0"s, "EXT2"},
                          {"\x84\1\0\0\0"s, "EXT4"},
                          {"Pid\n"s, "PERSID"},
                          {"Q"s, "BINPERSID"},
                          {"\x97"s, "NEXT_BUFFER"}}) {
    CAPTURE(row.second);
    CHECK(trouble("\x80\4NN" + row.first + ".").find("would run code: "s + row.second) != std::string::npos);
  }
  // A name may not steer a terminal.
  CHECK(trouble("\x80\2c\x1b[31m\n%s\n."s).find('\x1b') == std::string::npos);
}

TEST_CASE("what refers to itself is read, and walked as far as one asks") {
  const PickleValues v = values("\x80\4]\x94h\0a."s);  // a list that holds itself
  const auto items = v.items(v.root());
  REQUIRE(items.size() == 1);
  CHECK(items[0] == v.root());
  CHECK(trouble("\x80\4h\5."s).find("memo") != std::string::npos);
  CHECK(trouble("\x80\4Nr\xff\xff\xff\xff."s).find("memo") != std::string::npos);
}

TEST_CASE("lengths that the file does not hold allocate nothing and end in a sentence") {
  for (const std::string& huge :
       {"\x80\4\x95\xff\xff\xff\xff\1\0\0\0"s, "\x80\4X\xff\xff\xff\xff"s, "\x80\4\x8d\xff\xff\xff\xff\xff\xff\xff\x7f"s,
        "\x80\4\x8b\xff\xff\xff\xff"s, "\x80\4\x8e\0\0\0\0\1\0\0\0ab"s, "\x80\4X\0\0\x90\0abc"s})
    CHECK(!trouble(huge).empty());
}

TEST_CASE("depth, open values and objects are bounded") {
  CHECK(trouble("\x80\4" + std::string(9'999, '(') + "N.").empty());
  CHECK(trouble("\x80\4" + std::string(10'001, '(') + "N.").find("10,000 levels") != std::string::npos);
  CHECK(trouble("\x80\4" + std::string(5'000'000, 'N') + ".").find("open values") != std::string::npos);
  std::string deep = "\x80\4";  // 100,000 lists in each other
  deep += std::string(100'000, ']') + std::string(99'999, 'a') + ".";
  CHECK(trouble(deep).empty());
  std::string many;
  for (int i = 0; i < 1001; ++i) many += pickled("k" + std::to_string(i)) + "N";
  CHECK(trouble("\x80\4}(" + many + "u.").find("1,000 keys") != std::string::npos);
}

TEST_CASE("equal lists share their items, and one that grows leaves the others alone") {
  // a = [1, 2]; b = [1, 2]; b += [3]; [a, b]
  const PickleValues v = values("\x80\4](](K\1K\2e](K\1K\2e(K\3eK\4ae.");
  const auto lists = v.items(v.root());
  REQUIRE(lists.size() == 2);
  CHECK(v.items(lists[0]).size() == 2);
  const auto grown = v.items(lists[1]);
  REQUIRE(grown.size() == 4);
  CHECK(v.integer(grown[1]) == 2);
  CHECK(v.integer(grown[3]) == 4);
}

TEST_CASE("a pickle that is cut anywhere ends in a sentence, and reads the same in pieces of any size") {
  const std::string whole = tiny_snapshot();
  for (std::size_t n = 0; n < whole.size(); ++n)
    CHECK(trouble(whole.substr(0, n)).find("ends in the middle") != std::string::npos);
  Bytes in_pieces(whole, 7);
  CHECK(read_pickle(in_pieces).ok());
}

TEST_CASE("no pickle at all") {
  CHECK(trouble("{\"traceEvents\": []}").find("is not a pickle of protocol 2 to 5") != std::string::npos);
  CHECK(trouble("\x80\6N.").find("protocol 6") != std::string::npos);
  for (const char* damaged :
       {"\x80\4.", "\x80\4u.", "\x80\4(u.", "\x80\4N(Nu.", "\x80\4}(Nu.", "\x80\4Na.", "\x80\4}NNa.", "\x80\4t.",
        "\x80\4"
        "0."})
    CHECK(!trouble(damaged).empty());
}
