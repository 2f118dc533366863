#include "core/load/crop.h"

#include <algorithm>
#include <filesystem>
#include <system_error>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/event_walk.h"
#include "core/load/file_writer.h"
#include "core/load/kept_events.h"
#include "core/load/spilled_text.h"
#include "core/load/valid_json.h"

namespace gapscope {
namespace {

constexpr std::string_view kByteOrderMark = "\xEF\xBB\xBF";

Result<std::unique_ptr<ByteSource>> open_again(const Trace& trace, const std::atomic<bool>* cancel) {
  if (trace.spilled_text) return trace.spilled_text->open_at(0);
  std::error_code ignored;
  if (trace.path == "-" || !std::filesystem::is_regular_file(trace.path, ignored)) {
    if (trace.path == "-" || std::filesystem::exists(trace.path, ignored))
      return Error{fmt::format("{} cannot be read a second time. Open the trace from a file to save a part of it.",
                               trace.path == "-" ? "Standard input" : printable(trace.path))};
  }
  return open_source(trace.path, cancel);
}

std::optional<Error> trouble_with(const Trace& trace, const CropChoice& choice, const std::string& out) {
  std::error_code ignored;
  if (out.ends_with(".xz") || out.ends_with(".zst"))
    return Error{fmt::format("{}: crops are written plain or as gzip. Let the name end in .json or .json.gz.", printable(out))};
  if (std::filesystem::equivalent(trace.path, out, ignored))
    return Error{fmt::format("{} is the trace itself, which is still being read. Write to another file.", printable(out))};
  if (choice.slice_count == 0 && !choice.everything)
    return Error{fmt::format("Nothing of {} lies in that window: the trace goes from {} to {} ns. Choose a window inside, or other lanes.",
                             printable(trace.path), trace.span.begin, trace.span.end)};
  return std::nullopt;
}

class Cropper {
 public:
  Cropper(const Trace& trace, const CropChoice& choice, FileWriter& file, std::vector<std::uint64_t> kept)
      : trace_(trace), choice_(choice), file_(file), kept_(std::move(kept)), lanes_(trace, choice) {}

  std::optional<Error> run(EventWalk& walk) {
    const auto error = walk.run([&](const EventWalk::Stretch& stretch) {
      if (!head_written_) write_head(walk);
      for (const TakenEvent& event : stretch.events)
        if (wants(event, stretch.chunk.base_offset + event.at, walk.tables())) write_event(stretch, event);
    });
    if (error) return error;
    if (next_ < kept_.size() && !choice_.everything)
      return Error{fmt::format("{} has changed since it was opened: {} of the events to be saved are no longer where they were. Reload it.",
                               printable(trace_.path), kept_.size() - next_)};
    write_tail(walk);
    figures_.text_bytes = file_.text_bytes();
    return std::nullopt;
  }
  const CropFigures& figures() const { return figures_; }

 private:
  bool wants(const TakenEvent& event, std::uint64_t offset, const LocalTables& tables) {
    using What = TakenEvent::What;
    if (choice_.everything) return true;
    switch (event.what) {
      case What::slice: case What::flow: case What::half: return next_ < kept_.size() && kept_[next_] == offset && ++next_ != 0;
      case What::instant:
        return choice_.window.contains(event.time) && (event.is_global || lanes_.lane_wanted(tables, event.lane));
      case What::counter: return choice_.window.contains(event.time) && lanes_.process_wanted(tables, event.lane);
      case What::untimed: return true;
    }
    return true;
  }

  void write_event(const EventWalk::Stretch& stretch, const TakenEvent& event) {
    std::string_view text = event.mended.empty() ? stretch.text.substr(event.at, event.end - event.at) : std::string_view(event.mended);
    std::string mended;
    bool changed = !event.mended.empty();
    if (!json_.is_valid(text)) {
      mended = json_.mended(text);
      if (mended.empty()) {
        ++figures_.left_out;
        return;
      }
      text = mended;
      changed = true;
    }
    file_.write(figures_.events++ == 0 ? "\n" : ",\n");
    file_.write(text);
    figures_.mended += changed ? 1 : 0;
  }

  // What stands before the events as it is, if it is JSON with nothing in them, else as much of it as can be mended.
  void write_head(const EventWalk& walk) {
    head_written_ = true;
    std::string_view head = walk.head();
    if (head.starts_with(kByteOrderMark)) head.remove_prefix(kByteOrderMark.size());
    const std::string_view close = walk.is_object() ? "]}" : "]";
    std::string whole = std::string(head).append(close);
    if (!json_.is_valid(whole)) {
      whole = json_.mended(whole);
      figures_.header_lost = whole.empty();
      if (whole.empty()) whole = walk.is_object() ? "{\"traceEvents\": []}" : "[]";
    }
    file_.write(std::string_view(whole).substr(0, whole.size() - close.size()));
  }

  void write_tail(const EventWalk& walk) {
    if (!head_written_) write_head(walk);
    const std::string open = walk.is_object() ? "{\"\": [" : "[";
    std::string tail = "]" + walk.tail();
    if (!json_.is_valid(open + tail)) {
      const std::string mended = json_.mended(open + tail + (walk.is_object() ? "}" : ""));
      figures_.header_lost = figures_.header_lost || (mended.empty() && walk.is_object());
      tail = !mended.empty() ? mended.substr(open.size()) : walk.is_object() ? "]}" : "]";
    }
    file_.write("\n");
    file_.write(tail);
    if (!tail.ends_with('\n')) file_.write("\n");
  }

  const Trace& trace_;
  const CropChoice& choice_;
  FileWriter& file_;
  std::vector<std::uint64_t> kept_;
  std::size_t next_ = 0;
  LanesOfWalk lanes_;
  ValidJson json_;
  bool head_written_ = false;
  CropFigures figures_;
};

}  // namespace

Result<CropFigures> write_crop(const Trace& trace, const CropChoice& choice, const std::string& out, std::atomic<bool>* cancel,
                               std::atomic<std::uint64_t>* bytes_done) {
  if (auto error = trouble_with(trace, choice, out)) return *error;
  Result<std::unique_ptr<FileWriter>> file = FileWriter::create(out);
  if (!file) return file.error();
  std::vector<std::uint64_t> kept;
  if (!choice.everything && needs_walk(trace)) {
    Result<std::unique_ptr<ByteSource>> source = open_again(trace, cancel);
    if (!source) return source.error();
    Result<std::vector<std::uint64_t>> offsets = kept_offsets(trace, choice, **source, cancel);
    if (!offsets) return offsets.error();
    kept = std::move(*offsets);
  } else if (!choice.everything) {
    kept = offsets_of_slices(trace, choice);
  }
  Result<std::unique_ptr<ByteSource>> source = open_again(trace, cancel);
  if (!source) return source.error();
  EventWalk walk(**source, cancel, bytes_done);
  Cropper cropper(trace, choice, **file, std::move(kept));
  if (auto error = cropper.run(walk)) return *error;
  if (auto error = (*file)->finish()) return *error;
  return cropper.figures();
}

}  // namespace gapscope
