#include "core/load/archive.h"

#include <algorithm>
#include <cstring>
#include <exception>
#include <new>
#include <optional>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/base/trace_name.h"

#if __has_include(<archive.h>)
#include <archive.h>
#include <archive_entry.h>
#endif

namespace gapscope {

#if __has_include(<archive.h>)
namespace {

constexpr std::size_t kPieceBytes = std::size_t{256} << 10;
constexpr std::size_t kMostMembers = 100'000;
constexpr std::size_t kLongestName = 4096;
constexpr std::size_t kMostNamed = 5;  // in a sentence

// libarchive over a ByteSource.
class Reader {
 public:
  explicit Reader(std::unique_ptr<ByteSource> bytes) : bytes_(std::move(bytes)), piece_(kPieceBytes, '\0') {
    if (!archive_) throw std::bad_alloc();
    archive_read_support_format_zip(archive_.get());
    archive_read_support_format_tar(archive_.get());
    if (bytes_->seek(0)) {
      archive_read_set_seek_callback(archive_.get(), &on_seek);
      archive_read_set_skip_callback(archive_.get(), &on_skip);
    }
    if (archive_read_open(archive_.get(), this, nullptr, &on_read, nullptr) != ARCHIVE_OK) is_damaged_ = true;
    rethrow();
  }
  Reader(const Reader&) = delete;
  Reader& operator=(const Reader&) = delete;

  // The next file's name; empty at the end, or where the archive is damaged from here on.
  std::string next() {
    archive_entry* entry = nullptr;
    while (!is_damaged_ && members_ < kMostMembers) {
      const int state = archive_read_next_header(archive_.get(), &entry);
      rethrow();
      if (state == ARCHIVE_EOF) return {};
      is_damaged_ = state < ARCHIVE_WARN;
      if (is_damaged_) break;
      ++members_;
      is_encrypted_ = archive_entry_is_encrypted(entry) != 0;
      if (archive_entry_filetype(entry) != AE_IFREG || archive_entry_hardlink(entry) != nullptr) continue;
      if (std::string name = name_of(entry); !name.empty()) return name;
    }
    return {};
  }
  // Of the member that next() came to. By blocks, since archive_read_data() takes back what it has read of a damaged one.
  Result<std::size_t> read(char* into, std::size_t size) {
    std::size_t done = 0;
    while (done < size && !is_over_) {
      if (block_.empty()) {
        const void* begin = nullptr;
        std::size_t bytes = 0;
        la_int64_t offset = 0;
        const int state = archive_read_data_block(archive_.get(), &begin, &bytes, &offset);
        rethrow();
        if (trouble_) return *trouble_;
        is_damaged_ = state < ARCHIVE_WARN || offset < static_cast<la_int64_t>(member_at_);
        is_over_ = state == ARCHIVE_EOF || is_damaged_;
        if (is_over_) break;
        block_ = {static_cast<const char*>(begin), bytes};
        hole_ = static_cast<std::uint64_t>(offset) - member_at_;
      }
      const std::size_t zeros = static_cast<std::size_t>(std::min<std::uint64_t>(size - done, hole_));
      std::memset(into + done, 0, zeros);
      const std::size_t copied = std::min(size - done - zeros, block_.size());
      block_.copy(into + done + zeros, copied);  // of no block nothing, which memcpy may not be asked for
      block_.remove_prefix(copied);
      hole_ -= zeros;
      member_at_ += zeros + copied;
      done += zeros + copied;
    }
    return done;
  }
  bool is_damaged() const { return is_damaged_; }
  bool is_encrypted() const { return is_encrypted_; }
  bool has_too_many() const { return members_ >= kMostMembers; }
  const std::optional<Error>& trouble() const { return trouble_; }
  // Of the archive, however often it went back.
  std::uint64_t consumed() const { return total() == 0 ? consumed_ : std::min(consumed_, total()); }
  std::uint64_t total() const { return bytes_->file_bytes_total(); }

 private:
  static Reader& self(void* reader) { return *static_cast<Reader*>(reader); }
  static la_ssize_t on_read(archive*, void* reader, const void** piece) {
    Reader& r = self(reader);
    *piece = r.piece_.data();
    try {
      const Result<std::size_t> got = r.bytes_->read(r.piece_.data(), r.piece_.size());
      if (!got) r.trouble_ = got.error();
      if (!got) return ARCHIVE_FATAL;
      r.at_ += *got;
      r.consumed_ += *got;
      return static_cast<la_ssize_t>(*got);
    } catch (...) {  // libarchive is C: no exception may pass through it
      r.thrown_ = std::current_exception();
      return ARCHIVE_FATAL;
    }
  }
  static la_int64_t on_seek(archive*, void* reader, la_int64_t offset, int from) {
    Reader& r = self(reader);
    const auto size = static_cast<la_int64_t>(r.total());
    const la_int64_t base = from == SEEK_SET ? 0 : from == SEEK_CUR ? static_cast<la_int64_t>(r.at_) : size;
    if (offset > size || base + offset < 0 || base + offset > size) return ARCHIVE_FATAL;
    return r.go_to(static_cast<std::uint64_t>(base + offset)) ? base + offset : ARCHIVE_FATAL;
  }
  static la_int64_t on_skip(archive*, void* reader, la_int64_t bytes) {
    Reader& r = self(reader);
    const auto left = static_cast<la_int64_t>(r.total() - std::min(r.total(), r.at_));
    const la_int64_t skipped = std::clamp<la_int64_t>(bytes, 0, left);
    return r.go_to(r.at_ + static_cast<std::uint64_t>(skipped)) ? skipped : 0;
  }
  void rethrow() {
    if (thrown_) std::rethrow_exception(std::exchange(thrown_, nullptr));
  }
  bool go_to(std::uint64_t at) {
    if (!bytes_->seek(at)) return false;
    at_ = at;
    return true;
  }

  // Its parts but for those that lead elsewhere.
  static std::string name_of(archive_entry* entry) {
    const char* const utf8 = archive_entry_pathname_utf8(entry);
    const char* const raw = utf8 != nullptr ? utf8 : archive_entry_pathname(entry);
    std::string_view rest = raw == nullptr ? "" : raw;
    std::string name;
    if (rest.size() > kLongestName) return name;
    while (!rest.empty()) {
      const std::string_view part = rest.substr(0, rest.find('/'));
      rest.remove_prefix(std::min(rest.size(), part.size() + 1));
      if (!part.empty() && part != "." && part != "..") (name += name.empty() ? "" : "/") += part;
    }
    return name;
  }

  struct Free {
    void operator()(archive* a) const { archive_read_free(a); }
  };
  std::unique_ptr<ByteSource> bytes_;
  std::string piece_;
  std::uint64_t at_ = 0, consumed_ = 0;  // of the archive
  std::uint64_t member_at_ = 0;          // of the member
  std::uint64_t hole_ = 0;               // zero bytes that come before the block
  std::string_view block_;
  std::size_t members_ = 0;
  bool is_over_ = false, is_damaged_ = false, is_encrypted_ = false;
  std::optional<Error> trouble_;
  std::exception_ptr thrown_;
  std::unique_ptr<archive, Free> archive_{archive_read_new()};  // last: it is freed first, and calls back
};

class MemberSource final : public ByteSource {
 public:
  explicit MemberSource(std::unique_ptr<Reader> reader) : reader_(std::move(reader)) {}
  Result<std::size_t> read(char* into, std::size_t size) override { return reader_->read(into, size); }
  std::uint64_t file_bytes_read() const override { return reader_->consumed(); }
  std::uint64_t file_bytes_total() const override { return reader_->total(); }
  bool was_cut_short() const override { return reader_->is_damaged(); }

 private:
  std::unique_ptr<Reader> reader_;
};

// macOS adds "__MACOSX/._NAME" for every NAME.
bool is_hidden(std::string_view name) {
  return name.starts_with("__MACOSX/") || name.starts_with('.') || name.find("/.") != name.npos;
}

// JSON that is no trace, as the config.json of a model. Only what is small is read.
bool has_no_event(Reader& reader, std::string_view name) {
  constexpr std::size_t kSmall = std::size_t{64} << 10;
  if (!name.ends_with(".json") || reader.is_encrypted()) return false;
  std::string text(kSmall, '\0');
  const Result<std::size_t> got = reader.read(text.data(), text.size());
  if (!got || *got == 0 || *got == kSmall || reader.is_damaged()) return false;
  return text.find("traceEvents") == text.npos && text.find("\"ph\"") == text.npos;
}

std::string listed(const std::vector<std::string>& names) {
  std::string out;
  for (std::size_t i = 0; i < std::min(names.size(), kMostNamed); ++i)
    out += (i == 0 ? "" : ", ") + elide_middle(printable(names[i]), 60);
  if (names.size() > kMostNamed) out += fmt::format(" and {} more", names.size() - kMostNamed);
  return out;
}

Error no_trace_error(const Reader& reader, const std::vector<std::string>& names) {
  if (reader.has_too_many())
    return Error{fmt::format("The file is an archive of {} files or more. Unpack it, and open the trace in it.", kMostMembers)};
  if (names.empty() && reader.is_damaged())
    return Error{"The file is a damaged or cut short archive: it cannot be unpacked. Download or copy it again."};
  if (names.empty())
    return Error{"The file is an archive without files. Was the recording stopped before the trace was exported?"};
  const bool is_checkpoint = std::any_of(names.begin(), names.end(), [](const auto& n) { return n.ends_with("data.pkl"); });
  if (is_checkpoint)
    return Error{
        "The file is a PyTorch checkpoint (torch.save), not a trace. Export one with "
        "prof.export_chrome_trace(\"trace.json\")."};
  return Error{
      fmt::format("The file is an archive without a trace: none of its files ends in .json, .json.gz, .json.xz or "
                  ".json.zst ({}). Unpack it, and open the trace in it.",
                  listed(names))};
}

}  // namespace

Result<std::vector<std::string>> traces_in_archive(std::unique_ptr<ByteSource> archive) {
  Reader reader(std::move(archive));
  std::vector<std::string> names, traces, others;
  for (std::string name = reader.next(); !name.empty(); name = reader.next()) {
    if (is_hidden(name)) continue;
    if (is_trace_name(name)) (has_no_event(reader, name) ? others : traces).push_back(name);
    names.push_back(std::move(name));
  }
  if (reader.trouble()) return *reader.trouble();
  if (traces.empty()) traces = std::move(others);  // loading says what they are
  if (traces.empty() && names.size() == 1) traces = names;
  if (traces.empty() || reader.has_too_many()) return no_trace_error(reader, names);
  std::sort(traces.begin(), traces.end());
  traces.erase(std::unique(traces.begin(), traces.end()), traces.end());
  return traces;
}

Result<std::unique_ptr<ByteSource>> make_member_source(std::unique_ptr<ByteSource> archive, const std::string& name) {
  auto reader = std::make_unique<Reader>(std::move(archive));
  for (std::string at = reader->next(); at != name; at = reader->next()) {
    if (reader->trouble()) return *reader->trouble();
    if (at.empty()) return Error{fmt::format("The file is an archive without a file {}.", printable(name))};
  }
  if (reader->is_encrypted()) return Error{"The file is an archive with a password. Unpack it, and open the trace in it."};
  return std::unique_ptr<ByteSource>(std::make_unique<MemberSource>(std::move(reader)));
}

#else

namespace {
constexpr const char* kNoLibrary = "The file is an archive (.zip or .tar), and this build has no libarchive. Unpack it first.";
}
Result<std::vector<std::string>> traces_in_archive(std::unique_ptr<ByteSource>) { return Error{kNoLibrary}; }
Result<std::unique_ptr<ByteSource>> make_member_source(std::unique_ptr<ByteSource>, const std::string&) {
  return Error{kNoLibrary};
}
#endif

}  // namespace gapscope
