// Any bytes that load: a part of the trace written to a file of its own holds as many slices as were chosen (of everything the
// same ones), is read without complaint about lost events, and a crop of that whole file is the same trace again.
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>

#include <unistd.h>

#include "core/index/choose_crop.h"
#include "core/load/crop.h"
#include "core/load/load_trace.h"
#include "tests/support/dump_trace.h"

namespace {

using namespace gapscope;

const std::string& folder() {
  static const std::string made = [] {
    std::string name = (std::filesystem::temp_directory_path() / "gapscope_fuzz_XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    return name;
  }();
  return made;
}

std::shared_ptr<const Trace> loaded(const std::string& path) {
  LoadOptions options;
  options.threads = 1;
  const auto trace = load_trace(path, options);
  return trace.ok() ? *trace : nullptr;
}

// Every slice by its lane, in the order of the trace.
std::string slices_of(const Trace& trace) {
  std::string all;
  for (const Lane& lane : trace.lanes)
    for (std::uint32_t s = lane.first_slice; s < lane.first_slice + lane.slice_count; ++s) {
      const Span span = trace.span_of(SliceId(s));
      all.append(lane.key).append("\n").append(trace.name(SliceId(s))).append("\n");
      all += std::to_string(span.begin) + ' ' + std::to_string(span.end) + '\n';
    }
  return all;
}

// Null where it could not be written: an Error is an answer.
std::shared_ptr<const Trace> cropped(const Trace& trace, Span window, const std::string& out) {
  const LaneIndex lanes(trace);
  const LinkIndex links(trace, lanes);
  const CropChoice choice = choose_crop(trace, links, window);
  const auto figures = write_crop(trace, choice, out);
  if (!figures.ok()) return nullptr;
  const auto part = loaded(out);
  if (!part && figures->left_out == 0) std::abort();
  if (!part) return nullptr;  // of damaged events alone nothing is left that is a trace
  if (part->report.count(ImportIssue::bad_event) != 0 || part->report.count(ImportIssue::truncated) != 0) std::abort();
  if (figures->left_out == 0 && part->slice_count() != choice.slice_count) std::abort();
  if (figures->left_out == 0 && choice.everything && slices_of(*part) != slices_of(trace)) std::abort();
  return part;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  const std::string in = folder() + "/in.json", out = folder() + "/out.json", again = folder() + "/again.json";
  std::ofstream(in, std::ios::binary).write(reinterpret_cast<const char*>(data), static_cast<std::streamsize>(size));
  const auto trace = loaded(in);
  if (!trace) return 0;
  const Ns quarter = trace->span.length() / 4;
  for (const Span window :
       {Span{trace->span.begin, trace->span.end + 1}, Span{trace->span.begin + quarter, trace->span.end - quarter}}) {
    const auto part = cropped(*trace, window, out);
    if (!part) continue;
    const auto same = cropped(*part, part->span, again);
    if (same && test::dump_trace(*same) != test::dump_trace(*part)) std::abort();
  }
  return 0;
}
