#include "core/load/rocprof.h"

#include <simdjson.h>

#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "core/load/kineto_writer.h"
#include "core/load/rocprof_recording.h"

namespace gapscope {
namespace {

constexpr std::string_view kKey = "\"rocprofiler-sdk-tool\"";
constexpr std::size_t kPiece = std::size_t{256} << 10;             // of text, made at a time
constexpr std::uint64_t kLargest = (std::uint64_t{4} << 30) - 64;  // what simdjson reads

class RocprofSource final : public ByteSource {
 public:
  RocprofSource(simdjson::padded_string json, std::uint64_t file_bytes) : json_(std::move(json)), file_bytes_(file_bytes) {}

  // A sentence where the JSON cannot be read.
  std::optional<Error> parse() {
    simdjson::dom::array tools;
    const simdjson::error_code error = parser_.parse(json_)["rocprofiler-sdk-tool"].get(tools);
    if (error == simdjson::MEMALLOC) throw std::bad_alloc();
    if (error != simdjson::SUCCESS)
      return Error{"The file is a damaged or cut short recording of rocprofv3 (JSON). Copy it again."};
    for (const simdjson::dom::element& tool : tools)
      recordings_.push_back(std::make_unique<RocprofRecording>(tool, recordings_.size(), events_));
    text_ = "{\n\"schemaVersion\":1,\n\"recorder\":\"rocprof\",\n\"deviceProperties\":[";
    std::set<std::int64_t> known;
    for (const auto& recording : recordings_) recording->write_gpus(known, text_);
    text_ += "],\n\"traceEvents\":[";
    return std::nullopt;
  }

  Result<std::size_t> read(char* into, std::size_t size) override {
    std::size_t done = 0;
    while (done < size) {
      if (place_ == text_.size()) {
        text_.clear();
        place_ = 0;
        if (is_over_) break;
        if (const std::optional<Error> trouble = write(); trouble) return *trouble;
      }
      const std::size_t n = std::min(size - done, text_.size() - place_);
      std::memcpy(into + done, text_.data() + place_, n);
      place_ += n;
      done += n;
    }
    return done;
  }
  std::uint64_t file_bytes_read() const override { return file_bytes_; }
  std::uint64_t file_bytes_total() const override { return file_bytes_; }

 private:
  std::optional<Error> write() {
    while (at_ < recordings_.size() && text_.size() < kPiece)
      if (!recordings_[at_]->next()) ++at_;
    is_over_ = at_ == recordings_.size();
    if (!is_over_) return std::nullopt;
    if (events_.events() == 0)
      return Error{
          "The file is a recording of rocprofv3 without events. Record again: rocprofv3 --runtime-trace --output-format json "
          "-- "
          "COMMAND."};
    for (const auto& recording : recordings_) recording->write_names();
    text_ += "\n]}\n";
    return std::nullopt;
  }

  simdjson::padded_string json_;
  std::uint64_t file_bytes_;
  simdjson::dom::parser parser_;
  std::string text_;
  KinetoWriter events_{text_};
  std::vector<std::unique_ptr<RocprofRecording>> recordings_;
  std::size_t place_ = 0;  // in text_
  std::size_t at_ = 0;     // in recordings_
  bool is_over_ = false;
};

}  // namespace

bool is_rocprof(std::string_view b) {
  const auto skip = [&] { b.remove_prefix(std::min(b.size(), b.find_first_not_of(" \t\r\n"))); };
  skip();
  if (!b.starts_with('{')) return false;
  b.remove_prefix(1);
  skip();
  return b.starts_with(kKey);
}

Result<std::unique_ptr<ByteSource>> make_rocprof_source(std::unique_ptr<ByteSource> source) {
  std::string json;
  for (std::size_t want = std::size_t{1} << 20;; want = std::min(want * 2, std::size_t{64} << 20)) {
    const std::size_t had = json.size();
    json.resize(had + want);
    const Result<std::size_t> got = source->read(json.data() + had, want);
    if (!got) return got.error();
    json.resize(had + *got);
    if (*got < want) break;
    if (json.size() > kLargest)
      return Error{
          "The file is a recording of rocprofv3 of more than 4 GiB, which is more than can be read. Record less at a time."};
  }
  auto out = std::make_unique<RocprofSource>(simdjson::padded_string(json), source->file_bytes_total());
  json = {};
  if (std::optional<Error> trouble = out->parse(); trouble) return *std::move(trouble);
  return std::unique_ptr<ByteSource>(std::move(out));
}

}  // namespace gapscope
