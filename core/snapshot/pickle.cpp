#include "core/snapshot/pickle.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <string>

#include <fmt/format.h>

#include "core/base/text.h"

namespace gapscope {

namespace {

constexpr std::size_t kFirstBlock = std::size_t{1} << 16;  // of a file that may be small
constexpr std::size_t kBlock = std::size_t{1} << 20;       // read at a time
constexpr std::size_t kMostText = std::size_t{16} << 20;   // bytes of one string
constexpr std::size_t kMostStack = std::size_t{4} << 20;   // values; Python writes batches of 1,000
constexpr std::size_t kRun = 256;                          // values from the memo at a time
constexpr std::size_t kMostMarks = 10'000;                 // lists in lists; Python itself ends at 1,000
constexpr std::uint64_t kSpare = 64 * 1024;                // what a small file may hold beyond its share

// As Python's pickletools names them.
enum Op : unsigned char {
  kMark = '(',
  kStop = '.',
  kPop = '0',
  kPopMark = '1',
  kDup = '2',
  kBinfloat = 'G',
  kBinint = 'J',
  kBinint1 = 'K',
  kBinint2 = 'M',
  kNone = 'N',
  kBinunicode = 'X',
  kAppend = 'a',
  kAppends = 'e',
  kEmptyDict = '}',
  kEmptyList = ']',
  kEmptyTuple = ')',
  kTuple = 't',
  kBinget = 'h',
  kLongBinget = 'j',
  kBinput = 'q',
  kLongBinput = 'r',
  kSetitem = 's',
  kSetitems = 'u',
  kBinbytes = 'B',
  kShortBinbytes = 'C',
  kProto = 0x80,
  kTuple1 = 0x85,
  kTuple2 = 0x86,
  kTuple3 = 0x87,
  kTrue = 0x88,
  kFalse = 0x89,
  kLong1 = 0x8a,
  kLong4 = 0x8b,
  kShortBinunicode = 0x8c,
  kBinunicode8 = 0x8d,
  kBinbytes8 = 0x8e,
  kMemoize = 0x94,
  kFrame = 0x95,
};

// What would import, call or fetch something from outside the file.
struct Refused {
  unsigned char op;
  const char* name;
};
constexpr Refused kRunning[] = {{'c', "GLOBAL"},    {0x93, "STACK_GLOBAL"}, {'R', "REDUCE"},  {'b', "BUILD"},
                                {'i', "INST"},      {'o', "OBJ"},           {0x81, "NEWOBJ"}, {0x92, "NEWOBJ_EX"},
                                {0x82, "EXT1"},     {0x83, "EXT2"},         {0x84, "EXT4"},   {'P', "PERSID"},
                                {'Q', "BINPERSID"}, {0x97, "NEXT_BUFFER"}};
constexpr std::string_view kOld = "IFLSTUVdlgp";  // of protocols 0 and 1

}  // namespace

// Runs over the opcodes once. Nothing recurs: how deep values lie in each other costs nothing.
class PickleMachine {
 public:
  explicit PickleMachine(ByteSource& source) : source_(source), buffer_(kFirstBlock), stack_(1024) {}

  Result<PickleValues> run() {
    bool goes_on = have(2);
    if (goes_on && byte(0) != kProto) goes_on = fail("is not a pickle of protocol 2 to 5");
    while (goes_on) goes_on = step();
    if (trouble_) return *trouble_;
    return out_.take(root_, consumed());
  }

 private:
  std::uint64_t consumed() const { return before_ + at_; }
  bool op_is(Op op) const { return byte(0) == op; }
  unsigned char byte(std::size_t offset) const { return static_cast<unsigned char>(buffer_[at_ + offset]); }

  // False, so that `return fail(...)` ends the loop.
  bool fail(std::string_view trouble) {
    if (!trouble_) trouble_ = Error{fmt::format("The file {}.", trouble)};
    return false;
  }
  bool fail_at(std::string_view what) { return fail(fmt::format("is a damaged pickle: {} at byte {}", what, consumed())); }

  // Whether `bytes` more lie in the buffer; grows only with what is really there.
  bool have(std::size_t bytes) { return end_ - at_ >= bytes || fill(bytes); }
  bool fill(std::size_t bytes) {
    std::memmove(buffer_.data(), buffer_.data() + at_, end_ - at_);
    before_ += at_;
    end_ -= at_;
    at_ = 0;
    if (before_ > buffer_.size() && buffer_.size() < kBlock) buffer_.resize(buffer_.size() * 2);
    while (end_ < bytes) {
      if (end_ == buffer_.size()) buffer_.resize(buffer_.size() * 2);
      const Result<std::size_t> got = source_.read(buffer_.data() + end_, buffer_.size() - end_);
      if (!got) {
        trouble_ = got.error();
        return false;
      }
      if (*got == 0) return fail(fmt::format("ends in the middle of its pickle, at byte {}", before_ + end_));
      end_ += *got;
    }
    return true;
  }

  template <class T>
  T number(std::size_t offset) const {
    static_assert(std::endian::native == std::endian::little);
    T value;
    std::memcpy(&value, buffer_.data() + at_ + offset, sizeof(T));
    return value;
  }

  bool push(PickleValue value) {
    if (top_ == stack_.size() && !grow_stack()) return false;
    stack_[top_++] = value;
    return true;
  }
  bool grow_stack() {
    if (top_ >= kMostStack) return fail("holds a pickle with too many open values: no memory snapshot");
    stack_.resize(stack_.size() * 2);
    return true;
  }
  // What may be taken from the stack without passing the last mark.
  std::size_t open_values() const { return top_ - (marks_.empty() ? 0 : marks_.back()); }
  bool needs(std::size_t values) { return open_values() >= values || fail_at("a value is missing"); }
  bool needs_mark() { return !marks_.empty() || fail_at("a mark is missing"); }
  // Two's complement of any length.
  bool push_long(std::size_t length_bytes) {
    const std::size_t length = length_bytes == 1 ? byte(1) : number<std::uint32_t>(1);
    if (length > 4096) return fail("holds a whole number of more than 4,096 bytes: no memory snapshot");
    if (!have(1 + length_bytes + length)) return false;
    const auto* digits = reinterpret_cast<const unsigned char*>(buffer_.data()) + at_ + 1 + length_bytes;
    at_ += 1 + length_bytes + length;
    if (length == 0) return push(out_.integer(0));
    const bool negative = (digits[length - 1] & 0x80) != 0;
    std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
    for (std::size_t i = std::min<std::size_t>(length, 8); i-- > 0;) value = value << 8 | digits[i];
    bool fits = (static_cast<std::int64_t>(value) < 0) == negative;
    for (std::size_t i = 8; i < length; ++i) fits = fits && digits[i] == (negative ? 0xff : 0);
    if (!fits) value = negative ? std::uint64_t{1} << 63 : (std::uint64_t{1} << 63) - 1;
    return push(out_.integer(static_cast<std::int64_t>(value)));
  }
  bool push_real() {
    std::uint64_t bits = 0;
    for (std::size_t i = 1; i <= 8; ++i) bits = bits << 8 | byte(i);
    at_ += 9;
    return push(out_.real(std::bit_cast<double>(bits)));
  }
  bool push_text(std::size_t head, std::uint64_t length) {
    if (length > kMostText) return fail("holds a text of more than 16 MB: no memory snapshot, or a damaged one");
    if (!have(head + static_cast<std::size_t>(length))) return false;
    const std::string_view text(buffer_.data() + at_ + head, static_cast<std::size_t>(length));
    at_ += head + text.size();
    return push(out_.text(text));
  }

  // Objects of the file in proportion to its bytes: of a real one each takes 10 bytes and more.
  bool may_grow() {
    return out_.objects() <= consumed() / 2 + kSpare || fail("holds a pickle with more objects than its bytes explain");
  }
  bool push_list(std::size_t taken) {
    top_ -= taken;
    return may_grow() && push(out_.list({stack_.data() + top_, taken}));
  }
  bool push_dict() { return may_grow() && push(out_.dict()); }

  bool may(PickleBuilder::Trouble trouble) {
    using Trouble = PickleBuilder::Trouble;
    switch (trouble) {
      case Trouble::none: return true;
      case Trouble::not_a_list: return fail_at("an item is added to a value that is not a list");
      case Trouble::not_a_dict: return fail_at("a key is set in a value that is not a dictionary");
      case Trouble::key_without_value: return fail_at("a key has no value");
      case Trouble::too_many_items: return fail("holds a list of more than 2 billion items");
      case Trouble::too_many_keys: break;
    }
    return fail("holds a dictionary of more than 1,000 keys, or one that is filled twice: no memory snapshot");
  }
  // Of what is on the stack below the last mark, which is gone; the values above it go.
  bool append_to_list(std::size_t taken) {
    top_ -= taken;
    return needs(1) && may(out_.extend(stack_[top_ - 1], {stack_.data() + top_, taken}));
  }
  bool set_items(std::size_t taken) {
    top_ -= taken;
    return needs(1) && may(out_.set_items(stack_[top_ - 1], {stack_.data() + top_, taken}));
  }

  bool put(std::uint64_t index) {
    if (!needs(1)) return false;
    if (index > consumed()) return fail_at("the memo has a hole");
    if (index == memo_.size()) {
      memo_.push_back(stack_[top_ - 1]);
      return true;
    }
    if (index > memo_.size()) memo_.resize(index + 1, PickleValue());
    memo_[index] = stack_[top_ - 1];
    return true;
  }
  // Values from the memo, as many as follow each other: nine of ten opcodes of a snapshot, in a third of the time that step()
  // takes for each.
  bool get_run() {
    if (!have(op_is(kBinget) ? 2 : 5)) return false;
    if (stack_.size() - top_ < kRun && !grow_stack()) return false;
    const char* at = buffer_.data() + at_;
    const char* const end = buffer_.data() + end_;
    const PickleValue* const memo = memo_.data();
    const std::size_t memoised = memo_.size();
    PickleValue* top = stack_.data() + top_;
    PickleValue* const most = top + kRun;
    while (end - at >= 2 && top != most) {
      std::uint32_t index = 0;
      if (*at == kLongBinget && end - at >= 5) {
        std::memcpy(&index, at + 1, sizeof(index));
        at += 5;
      } else if (*at == kBinget) {
        index = static_cast<unsigned char>(at[1]);
        at += 2;
      } else {
        break;
      }
      if (index >= memoised) return fail_at("the memo has no such entry");
      *top++ = memo[index];
    }
    at_ = static_cast<std::size_t>(at - buffer_.data());
    top_ = static_cast<std::size_t>(top - stack_.data());
    return true;
  }

  std::size_t pop_mark() {
    const std::size_t values = top_ - marks_.back();
    marks_.pop_back();
    return values;
  }

  std::string imported() const {
    const auto word = [&](std::size_t from_top) {
      if (top_ < from_top) return std::string();
      return printable(elide_middle(out_.values().text(stack_[top_ - from_top]), 60));
    };
    if (byte(0) == 0x93) return word(2) + '.' + word(1);
    if (byte(0) != 'c' && byte(0) != 'i') return {};
    std::string name(buffer_.data() + at_ + 1, std::min<std::size_t>(end_ - at_ - 1, 120));
    const std::size_t end = name.find('\n', name.find('\n') + 1);
    name = name.substr(0, end);
    std::replace(name.begin(), name.end(), '\n', '.');
    return printable(name);
  }
  bool refuse(unsigned char op) {
    for (const Refused& refused : kRunning) {
      if (refused.op != op) continue;
      const std::string name = imported();
      return fail(fmt::format("is a pickle that would run code: {}{} at byte {}. Nothing was run; do not load it in Python",
                              refused.name, name.size() > 1 ? fmt::format(" (\"{}\")", name) : "", consumed()));
    }
    if (kOld.find(static_cast<char>(op)) != kOld.npos)
      return fail(fmt::format("is a pickle of protocol 0 or 1, or damaged: opcode 0x{:02x} at byte {}", op, consumed()));
    return fail(fmt::format("is a pickle with an opcode that no memory snapshot has: 0x{:02x} at byte {}", op, consumed()));
  }

  // One opcode; false at the end and on trouble.
  bool step() {
    if (!have(1)) return false;
    const unsigned char op = byte(0);
    switch (op) {
      case kBinget:
      case kLongBinget: return get_run();
      case kMemoize: return ++at_, put(memo_.size());
      case kBinput:
        if (!have(2)) return false;
        at_ += 2;
        return put(byte_before(1));
      case kLongBinput: {
        if (!have(5)) return false;
        const auto index = number<std::uint32_t>(1);
        at_ += 5;
        return put(index);
      }
      case kMark:
        ++at_;
        if (marks_.size() >= kMostMarks) return fail("holds a pickle nested deeper than 10,000 levels");
        marks_.push_back(top_);
        return true;
      case kEmptyDict: return ++at_, push_dict();
      case kEmptyList:
      case kEmptyTuple: return ++at_, push_list(0);
      case kSetitems: return ++at_, needs_mark() && set_items(pop_mark());
      case kSetitem: return ++at_, needs(3) && set_items(2);
      case kAppends: return ++at_, needs_mark() && append_to_list(pop_mark());
      case kAppend: return ++at_, needs(2) && append_to_list(1);
      case kTuple: return ++at_, needs_mark() && push_list(pop_mark());
      case kTuple1: return ++at_, needs(1) && push_list(1);
      case kTuple2: return ++at_, needs(2) && push_list(2);
      case kTuple3: return ++at_, needs(3) && push_list(3);
      case kNone: return ++at_, push({});
      case kTrue: return ++at_, push({PickleValue::Kind::boolean, 1});
      case kFalse: return ++at_, push({PickleValue::Kind::boolean, 0});
      case kPop:
        ++at_;
        if (open_values() == 0 && !marks_.empty()) return marks_.pop_back(), true;
        if (!needs(1)) return false;
        --top_;
        return true;
      case kPopMark:
        ++at_;
        if (!needs_mark()) return false;
        top_ -= pop_mark();
        return true;
      case kDup: return ++at_, needs(1) && push(stack_[top_ - 1]);
      default: return step_with_argument(op);
    }
  }
  std::uint64_t byte_before(std::size_t back) const { return static_cast<unsigned char>(buffer_[at_ - back]); }

  bool step_with_argument(unsigned char op) {
    switch (op) {
      case kBinint: {
        if (!have(5)) return false;
        const auto value = number<std::int32_t>(1);
        at_ += 5;
        return push(out_.integer(value));
      }
      case kBinint1:
        if (!have(2)) return false;
        at_ += 2;
        return push(out_.integer(static_cast<std::int64_t>(byte_before(1))));
      case kBinint2: {
        if (!have(3)) return false;
        const auto value = number<std::uint16_t>(1);
        at_ += 3;
        return push(out_.integer(value));
      }
      case kLong1: return have(2) && push_long(1);
      case kLong4: return have(5) && push_long(4);
      case kBinfloat: return have(9) && push_real();
      case kShortBinunicode:
      case kShortBinbytes: return have(2) && push_text(2, byte(1));
      case kBinunicode:
      case kBinbytes: return have(5) && push_text(5, number<std::uint32_t>(1));
      case kBinunicode8:
      case kBinbytes8: return have(9) && push_text(9, number<std::uint64_t>(1));
      case kFrame:  // how much follows: not needed
        if (!have(9)) return false;
        at_ += 9;
        return true;
      case kProto:
        if (!have(2)) return false;
        at_ += 2;
        if (byte_before(1) < 2 || byte_before(1) > 5)
          return fail(fmt::format("is a pickle of protocol {}; protocols 2 to 5 are read", byte_before(1)));
        return true;
      case kStop:
        ++at_;
        if (!needs(1)) return false;
        root_ = stack_[top_ - 1];
        return false;
      default: return refuse(op);
    }
  }

  ByteSource& source_;
  std::vector<char> buffer_;
  std::size_t at_ = 0, end_ = 0;
  std::uint64_t before_ = 0;  // bytes of the file before the buffer
  std::vector<PickleValue> stack_;
  std::size_t top_ = 0;
  std::vector<std::size_t> marks_;
  Column<PickleValue> memo_;
  PickleBuilder out_;
  PickleValue root_;
  std::optional<Error> trouble_;
};

Result<PickleValues> read_pickle(ByteSource& source) { return PickleMachine(source).run(); }

}  // namespace gapscope
