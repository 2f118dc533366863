#include "core/load/foreign.h"

#include <algorithm>
#include <array>
#include <memory>

#include <fmt/format.h>

#include "core/base/text.h"
#include "core/load/archive.h"
#include "core/load/byte_source.h"
#include "core/load/json_text.h"
#include "core/load/top_level.h"

namespace gapscope {
namespace {

using namespace std::string_view_literals;

constexpr const char* kExport = "Export one with prof.export_chrome_trace(\"trace.json\").";
constexpr const char* kRecord = "Record the program with gapscope record -- COMMAND, or with torch.profiler.";
constexpr const char* kMemory =
    "Record with torch.profiler and profile_memory=True, and open what export_chrome_trace() writes: its tab Memory has the "
    "rest.";
constexpr const char* kNsight =
    "Export it: nsys export --type sqlite REPORT.nsys-rep, and open the .sqlite file. gapscope --export REPORT.nsys-rep does "
    "both.";
constexpr const char* kAnew = "Record the program again: gapscope record -- COMMAND, or nsys profile.";
constexpr const char* kPerfetto =
    "Convert it: traceconv json FILE trace.json. With rocprofv3, record with --output-format json instead.";
constexpr const char* kSnapshot = "Read it with gapscope snapshot FILE.";
constexpr const char* kSnapshotJson =
    "Dump it as a pickle, with torch.cuda.memory._dump_snapshot(FILE), and read that with gapscope snapshot FILE.";
constexpr const char* kFlight = "Analyze it with torchfrtrace, or record each rank with torch.profiler.";
constexpr const char* kKineto = "Open the trace that export_chrome_trace() wrote in the same run.";
constexpr const char* kTrtexec = "Record trtexec itself: gapscope record -- trtexec ...";
constexpr const char* kDownload = "Download the file itself: curl -LO ADDRESS.";

// A row holds of a file that begins with `magic`, whose name has `ending`, and whose beginning has all of `words`; what is
// empty is not asked. The first row that holds says what the file is.
struct ForeignFile {
  std::string_view magic;
  std::string_view ending;  // anywhere in the file's name where it begins with '*'
  std::array<std::string_view, 2> words;
  const char* what;
  const char* remedy;
};

constexpr ForeignFile kFiles[] = {
    {"SQLite format 3\0"sv, ".nvvp", {}, "a recording of nvprof (SQLite)", kAnew},
    {"SQLite format 3\0"sv, "", {"CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL"}, "a recording of nvprof (SQLite)", kAnew},
    {"SQLite format 3\0"sv,
     "",
     {"STRING_IDS", "TASK"},
     "a database of Ascend's profiler (SQLite)",
     "Open the trace_view.json or msprof_*.json of the same recording."},
    {"SQLite format 3\0"sv, "", {"CUPTI_ACTIVITY_KIND"}, "a damaged Nsight Systems export (SQLite)", kNsight},
    {"SQLite format 3\0"sv,
     "",
     {"StringIds"},
     "an Nsight Systems export (SQLite) in which nothing of a GPU was recorded",
     "Record again with nsys profile --trace=cuda,nvtx, and export that."},
    {"SQLite format 3\0"sv,
     ".rpd",
     {},
     "a recording of rocmProfileData (SQLite)",
     "Convert it: rpd2tracing.py FILE trace.json."},
    {"SQLite format 3\0"sv,
     "",
     {"rocpd_"},
     "a recording of ROCm's profiler (rocpd, SQLite)",
     "Record with rocprofv3 --output-format json instead, and open what it writes."},
    {"SQLite format 3\0"sv, "", {}, "an SQLite database", kExport},
    {"", ".nsys-rep", {}, "an Nsight Systems report", kNsight},
    {"", ".qdrep", {}, "an Nsight Systems report", kNsight},
    {"",
     ".qdstrm",
     {},
     "an Nsight Systems stream",
     "Import it: QdstrmImporter -i FILE. Then export the report: nsys export --type sqlite."},
    {"", ".ncu-rep", {}, "an Nsight Compute report", "Open it with ncu-ui. For a timeline: gapscope record -- COMMAND."},
    {"NVR\0"sv, "", {}, "an Nsight Compute report", "Open it with ncu-ui. For a timeline: gapscope record -- COMMAND."},
    {"\x80", "", {"device_traces"}, "a CUDA memory snapshot (pickle)", kSnapshot},
    {"\x80", "", {"segments"}, "a CUDA memory snapshot (pickle)", kSnapshot},
    {"\x80", "", {"pg_config"}, "a dump of NCCL's flight recorder (pickle)", kFlight},
    {"\x80", "", {"nccl_version"}, "a dump of NCCL's flight recorder (pickle)", kFlight},
    {"\x80", "", {"entries", "pg_"}, "a dump of NCCL's flight recorder (pickle)", kFlight},
    {"", "*nccl_trace_rank_", {}, "a dump of NCCL's flight recorder", kFlight},
    {"\x80\2"sv, "", {}, "a Python pickle", kExport},
    {"\x80\3"sv, "", {}, "a Python pickle", kExport},
    {"\x80\4"sv, "", {}, "a Python pickle", kExport},
    {"\x80\5"sv, "", {}, "a Python pickle", kExport},
    {"", "*tfevents", {}, "a TensorBoard event file", kExport},
    {"", ".xplane.pb", {}, "a profile of JAX or TensorFlow (XPlane)", "Open the .trace.json.gz in the same folder."},
    {"\x0a\x04\x08\1\x10\2", "", {}, "a memory profile of JAX (pprof)", "Open it with pprof: go tool pprof FILE."},
    {"", ".pftrace", {}, "a Perfetto trace", kPerfetto},
    {"", ".perfetto-trace", {}, "a Perfetto trace", kPerfetto},
    {"", ".perfetto", {}, "a Perfetto trace", kPerfetto},
    {"", ".et", {}, "an execution trace (Chakra)", kKineto},
    {"\x89PNG", "", {}, "a picture (PNG)", kExport},
    {"\xff\xd8\xff", "", {}, "a picture (JPEG)", kExport},
    {"GIF8", "", {}, "a picture (GIF)", kExport},
    {"RIFF", "", {"WEBP"}, "a picture (WebP)", kExport},
    {"%PDF", "", {}, "a PDF", kExport},
    {"<svg", "", {}, "a picture (SVG)", kExport},
    {"<", "", {"<html", "memory timeline"}, "a memory timeline of PyTorch (HTML)", kMemory},
    {"<", "", {"<html", "gapscope"}, "a report of Gapscope (HTML)", "Open it in a browser."},
    {"<",
     "",
     {"<html", "github"},
     "a page of GitHub (HTML)",
     "Download the file itself: its button \"Download raw file\", or curl -LO ADDRESS."},
    {"<", "", {"<html"}, "a web page (HTML)", kDownload},
    {"<", "", {"<!doctype html"}, "a web page (HTML)", kDownload},
    {"<",
     "",
     {"<Error>", "<Code>"},
     "an error message of the server that it was downloaded from (XML)",
     "Check your access, and download it again."},
    {"<?xml", "", {"<svg"}, "a picture (SVG)", kExport},
    {"<?xml", "", {}, "an XML file", kExport},
    {"version https://git-lfs", "", {}, "a pointer of git-lfs to a file that is not here", "Fetch the file: git lfs pull."},
    {"\"Kind\",\"Agent_Id\"", "", {}, "a table of rocprofv3 (CSV)", "Record with rocprofv3 --output-format json instead."},
    {"Start (ns),Duration (ns)", "", {}, "a table of nsys stats (CSV)", kNsight},
    {"\"ID\",\"Process ID\"", "", {}, "a table of Nsight Compute (CSV)", kRecord},
    {"BZh", "", {}, "packed with bzip2", "Unpack it first: bunzip2 -k FILE."},
    {"\x04\x22\x4d\x18", "", {}, "packed with lz4", "Unpack it first: lz4 -d FILE."},
    {"\x1f\x9d", "", {}, "packed with compress", "Unpack it first: gzip -dk FILE."},
    {"7z\xbc\xaf\x27\x1c", "", {}, "an archive of 7-Zip", "Unpack it first: 7z x FILE."},
    {"Rar!", "", {}, "a RAR archive", "Unpack it first: unrar x FILE."},
    {"\x7f"
     "ELF",
     "",
     {},
     "a program",
     kRecord},
    {"\x93NUMPY", "", {}, "an array of NumPy", kExport},
    {"\x89HDF", "", {}, "an HDF5 file", kExport},
    {"PAR1", "", {}, "a Parquet table", kExport},
    {"ARROW1", "", {}, "an Arrow table", kExport},
    {"PERFILE2", "", {}, "a recording of Linux perf", kRecord},
    {"==PROF==", "", {}, "the log of Nsight Compute", kRecord},
};

bool is_named(std::string_view path, std::string_view ending) {
  const std::string_view name = path.substr(path.rfind('/') + 1);
  if (ending.starts_with('*')) return name.find(ending.substr(1)) != name.npos;
  for (const std::string_view packed : {"", ".gz", ".xz", ".zst"})
    if (name.ends_with(packed) && name.substr(0, name.size() - packed.size()).ends_with(ending)) return true;
  return false;
}

std::string sentences(const std::string& shown, std::string_view what, std::string_view remedy) {
  return fmt::format("{} is {}, not a trace. {}", shown, what, remedy);
}

bool is_text(std::string_view beginning) {
  return std::none_of(beginning.begin(), beginning.end(), [](char c) {
    return static_cast<unsigned char>(c) < 7 ||
           (static_cast<unsigned char>(c) > 13 && c != 27 && static_cast<unsigned char>(c) < 32);
  });
}

// Of protocol buffers: fields of number 1, one after another, as a Perfetto trace is made of packets.
bool is_perfetto(std::string_view b) {
  std::size_t at = 0;
  for (int packets = 0; packets < 3 && at < b.size(); ++packets) {
    if (b[at++] != '\n') return false;
    std::size_t length = 0;
    int shift = 0;
    while (at < b.size() && shift < 28 && (b[at] & '\x80') != 0)
      length |= static_cast<std::size_t>(b[at++] & 0x7f) << shift, shift += 7;
    if (at >= b.size() || shift >= 28) return false;
    length |= static_cast<std::size_t>(b[at++]) << shift;
    if (length == 0) return false;
    at += length;
  }
  return true;
}

struct ForeignJson {
  std::array<std::string_view, 2> keys;  // at its top level
  const char* what;
  const char* remedy;
};

constexpr ForeignJson kJson[] = {
    {{"$schema", "profiles"}, "a speedscope profile", kExport},
    {{"nodes", "samples"}, "a V8 CPU profile", kExport},
    {{"meta", "threads"}, "a Firefox profile", kExport},
    {{"resourceSpans"}, "an OpenTelemetry export", kExport},
    {{"schema", "nodes"}, "an execution trace of PyTorch (Chakra)", kKineto},
    {{"Type", "NvtxEvent"}, "an Nsight Systems export (JSON)", kNsight},
    {{"Type", "CudaEvent"}, "an Nsight Systems export (JSON)", kNsight},
    {{"Type", "TraceProcessEvent"}, "an Nsight Systems export (JSON)", kNsight},
    {{"entries", "pg_config"}, "a dump of NCCL's flight recorder", kFlight},
    {{"entries", "nccl_version"}, "a dump of NCCL's flight recorder", kFlight},
    {{"entries", "pg_status"}, "a dump of NCCL's flight recorder", kFlight},
    {{"segments", "device_traces"}, "a CUDA memory snapshot", kSnapshotJson},
    {{"segments", "allocator_settings"}, "a CUDA memory snapshot", kSnapshotJson},
    {{"Layers", "Bindings"}, "a list of a TensorRT engine's layers (trtexec --exportLayerInfo)", kTrtexec},
    {{"Layers"}, "a list of a TensorRT engine's layers (trtexec --exportLayerInfo)", kTrtexec},
    {{"nbformat", "cells"}, "a Jupyter notebook", kExport},
    {{"log", "version"}, "a log of a browser's requests (HAR)", kExport},
    {{"message", "documentation_url"}, "an error message of GitHub", kDownload},
    {{"error"}, "an error message of the server that it was downloaded from", "Check your access, and download it again."},
};

struct ForeignArray {
  std::array<std::string_view, 2> words;  // in its beginning
  const char* what;
  const char* remedy;
};

constexpr ForeignArray kArrays[] = {
    {{"\"startComputeMs\""}, "a list of times (trtexec --exportTimes)", kTrtexec},
    {{"\"latencyMs\"", "\"computeMs\""}, "a list of times (trtexec --exportTimes)", kTrtexec},
    {{"\"averageMs\"", "\"percentage\""}, "a profile of a TensorRT engine's layers (trtexec --exportProfile)", kTrtexec},
    {{"\"timeMs\"", "\"name\""}, "a profile of a TensorRT engine's layers (trtexec --exportProfile)", kTrtexec},
    {{"\"rule_id\""}, "a list of findings", kExport},
};

}  // namespace

std::string foreign_file(std::string_view beginning, const std::string& path, const std::string& shown) {
  const std::string_view text = beginning.substr(std::min(beginning.size(), beginning.find_first_not_of(" \t\r\n")));
  const std::string_view first = text.starts_with('<') ? text : beginning;
  for (const ForeignFile& file : kFiles) {
    const bool has_words = std::all_of(file.words.begin(), file.words.end(), [&](std::string_view word) {
      return word.empty() || contains_ignore_case(first, word);
    });
    if (first.starts_with(file.magic) && (file.ending.empty() || is_named(path, file.ending)) && has_words)
      return sentences(shown, file.what, file.remedy);
  }
  if (beginning.substr(0, 64).find("brain.Event:") != beginning.npos)
    return sentences(shown, "a TensorBoard event file", kExport);
  if (is_perfetto(beginning) && !is_text(beginning.substr(0, 64))) return sentences(shown, "a Perfetto trace", kPerfetto);
  if (!is_text(beginning.substr(0, 64))) return {};
  constexpr std::size_t kShown = 20;
  return sentences(shown,
                   fmt::format("a text file that begins with \"{}\"",
                               printable(text.substr(0, std::min(kShown, text.find_first_of("\r\n"))))),
                   kExport);
}

std::string foreign_json(const std::vector<std::string>& keys, std::string_view beginning, const std::string& shown) {
  const auto has = [&](std::string_view key) { return key.empty() || std::find(keys.begin(), keys.end(), key) != keys.end(); };
  for (const ForeignJson& json : kJson)
    if (std::all_of(json.keys.begin(), json.keys.end(), has)) return sentences(shown, json.what, json.remedy);
  if (!beginning.starts_with('[')) return {};
  for (const ForeignArray& array : kArrays)
    if (std::all_of(array.words.begin(), array.words.end(),
                    [&](std::string_view word) { return beginning.find(word) != beginning.npos; }))
      return sentences(shown, array.what, array.remedy);
  const std::size_t inner = beginning.find_first_not_of(" \t\r\n", 1);
  if (inner != beginning.npos && beginning[inner] == '[')
    return sentences(shown, "an array of arrays, as export_memory_timeline() writes", kMemory);
  return {};
}

namespace {

constexpr const char* kWhatTracesHave =
    "A trace has its events in an array, each an object with \"ph\", \"ts\" and \"name\". Open a file made by torch.profiler's "
    "export_chrome_trace or another Chrome trace.";

}  // namespace

std::string json_without_events(const std::vector<std::string>& keys, const std::string& shown) {
  if (keys.empty()) return fmt::format("{} is an empty JSON object, not a trace. {}", shown, kWhatTracesHave);
  std::string listed;
  for (const std::string& key : keys) {
    if (key == "traceEvents") return fmt::format("{} is JSON whose \"traceEvents\" is no array. {}", shown, kWhatTracesHave);
    listed += (listed.empty() ? "" : ", ") + elide_middle(printable(key), 40);
  }
  return fmt::format(
      "{} is JSON without trace events: it has no \"traceEvents\" array at its top level (keys: {}). Open a file made by "
      "torch.profiler's export_chrome_trace or another Chrome trace.",
      shown, listed);
}

std::string json_without_objects(bool is_object, const std::string& shown) {
  return fmt::format("{} is {} whose elements are no objects, not a trace. {}", shown,
                     is_object ? "JSON with an array \"traceEvents\"" : "a JSON array", kWhatTracesHave);
}

namespace {

constexpr std::size_t kFirstBytes = std::size_t{16} << 10;
constexpr std::size_t kMostBytes = std::size_t{16} << 20;  // a header that is longer is no reason to leave a file out
constexpr std::size_t kShownKeys = 3;

// The text of a file, as far as it was asked for.
class Beginning {
 public:
  explicit Beginning(std::unique_ptr<ByteSource> source) : source_(std::move(source)) {}
  // False where reading failed.
  bool read_more() {
    const std::size_t had = text.size(), want = std::max(kFirstBytes, had);
    text.resize(had + want);
    const Result<std::size_t> got = source_->read(text.data() + had, want);
    text.resize(had + (got ? *got : 0));
    at_end = !got || *got < want;
    return got.ok();
  }
  std::string text;
  bool at_end = false;

 private:
  std::unique_ptr<ByteSource> source_;
};

std::string why_no_event(Beginning& list) {
  if (!list.at_end && !list.read_more()) return {};
  const std::size_t first = skip_json_space(list.text, 0);
  if (first == list.text.size()) return {};
  if (list.text[first] == ']') return "an empty list";
  const bool may_be_event = list.text[first] == '{' && list.text.find("\"ph\"") != std::string::npos;
  return may_be_event ? "" : "a list of other things than events";
}

std::string why_no_events(const std::vector<std::string>& keys) {
  if (keys.empty()) return "an empty object";
  if (std::find(keys.begin(), keys.end(), "ph") != keys.end()) return {};  // an event a line
  std::string out;
  const std::size_t shown = std::min(keys.size(), kShownKeys);
  for (std::size_t i = 0; i < shown; ++i)
    out += (i == 0 ? "" : i + 1 == keys.size() ? " and " : ", ") + elide_middle(printable(keys[i]), 30);
  return fmt::format("with the key{} {}{}", keys.size() == 1 ? "" : "s", out, shown < keys.size() ? " and others" : "");
}

}  // namespace

std::string why_no_trace(const std::string& path) {
  Result<std::unique_ptr<ByteSource>> source = open_beginning(path);
  if (!source) return {};
  Beginning file(std::move(*source));
  TopLevel top;
  std::uint64_t offset = 0;
  while (offset + file.text.size() < kMostBytes && file.read_more()) {
    const TopLevel::State state = top.feed(file.text, offset, file.at_end);
    file.text.erase(0, top.consumed());
    offset += top.consumed();
    if (state == TopLevel::State::events_begin) return top.is_object() ? "" : why_no_event(file);
    if (state == TopLevel::State::finished) return why_no_events(top.keys());
    if (state == TopLevel::State::not_json || file.at_end) return {};
  }
  return {};
}

}  // namespace gapscope
