#include "core/load/nsight_systems.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <string>
#include <utility>

#include "core/load/archive.h"
#include "core/load/kineto_writer.h"
#include "core/load/nsight_samples.h"
#include "core/load/nsight_tables.h"
#include "core/load/nsight_world.h"
#include "core/load/read_again.h"
#include "core/load/rocpd.h"
#include "core/load/rocprof.h"
#include "core/load/sqlite_file.h"

namespace gapscope {
namespace {

constexpr std::size_t kPiece = std::size_t{256} << 10;  // of text, made at a time

bool is_export(const SqliteFile& file) {
  constexpr std::array<std::string_view, 4> kOurs = {"META_DATA_EXPORT", "META_DATA_CAPTURE", "NVTX_EVENTS",
                                                     "TARGET_INFO_SESSION_START_TIME"};
  return file.has("StringIds") && std::any_of(file.tables().begin(), file.tables().end(), [&](const std::string& table) {
           return table.starts_with("CUPTI_ACTIVITY_KIND_") || std::find(kOurs.begin(), kOurs.end(), table) != kOurs.end();
         });
}

class NsightSource final : public ByteSource {
 public:
  explicit NsightSource(std::unique_ptr<SqliteFile> file) : file_(std::move(file)) {}

  Result<std::size_t> read(char* into, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      if (at_ == text_.size()) {
        text_.clear();
        at_ = 0;
        if (is_over_) break;
        if (const std::optional<Error> trouble = write(); trouble) return *trouble;
      }
      const std::size_t n = std::min(size - done, text_.size() - at_);
      std::memcpy(into + done, text_.data() + at_, n);
      at_ += n;
      done += n;
    }
    return done;
  }
  std::uint64_t file_bytes_read() const override { return file_->bytes_read(); }
  std::uint64_t file_bytes_total() const override { return file_->bytes_total(); }

 private:
  // The next piece of the text; an Error where none is left of a damaged file.
  std::optional<Error> write() {
    if (!world_) {
      world_ = std::make_unique<NsightWorld>(*file_);
      tables_ = std::make_unique<NsightTables>(*file_, *world_, events_);
      samples_ = std::make_unique<NsightSamples>(*file_, *world_);
      if (!file_->trouble()) world_->write_header(text_);
    }
    while (!is_over_ && text_.size() < kPiece) is_over_ = !tables_->next() && !samples_->next(events_);
    if (!is_over_ || (file_->trouble() && !text_.empty())) return std::nullopt;
    if (file_->trouble()) return *file_->trouble();
    if (events_.events() == 0)
      return Error{
          "The file is an Nsight Systems export without events. Record again: nsys profile --trace=cuda,nvtx,osrt COMMAND."};
    world_->write_names(events_);
    text_ += "\n]}\n";
    return std::nullopt;
  }

  std::unique_ptr<SqliteFile> file_;
  std::string text_;
  std::size_t at_ = 0;
  KinetoWriter events_{text_};
  std::unique_ptr<NsightWorld> world_;
  std::unique_ptr<NsightTables> tables_;
  std::unique_ptr<NsightSamples> samples_;
  bool is_over_ = false;
};

}  // namespace

Result<std::unique_ptr<ByteSource>> make_database_source(std::unique_ptr<ByteSource> database) {
  Result<std::unique_ptr<ByteSource>> bytes = make_random_access(std::move(database));
  if (!bytes) return bytes;
  std::unique_ptr<SqliteFile> file = SqliteFile::open(*bytes);
  if (!file) return bytes;
  if (is_export(*file)) return std::unique_ptr<ByteSource>(std::make_unique<NsightSource>(std::move(file)));
  if (!is_rocpd(*file)) return file->release();
  const Result<std::string> json = rocpd_json(*file);
  if (!json) return json.error();
  return make_rocprof_source(make_text_source(*json));
}

Result<std::unique_ptr<SqliteFile>> open_nsight_tables(const std::string& path, const std::atomic<bool>* cancel) {
  if (is_pipe(path)) return Error{"The file came through a pipe. Open it from a file to see its tables."};
  Result<std::unique_ptr<ByteSource>> bytes = open_as_it_is(path, cancel);
  if (!bytes) return bytes.error();
  if (bytes = make_random_access(std::move(*bytes)); !bytes) return bytes.error();
  std::unique_ptr<SqliteFile> file = SqliteFile::open(*bytes);
  if (!file || !is_export(*file)) return Error{"The file has changed since it was opened. Reload it."};
  return file;
}

}  // namespace gapscope
