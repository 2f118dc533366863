#include "core/load/foreign.h"

#include <string>

#include <doctest/doctest.h>

#include "core/load/load_trace.h"
#include "tests/support/gzip_text.h"
#include "tests/support/load_text.h"
#include "tests/support/temp_folder.h"

using namespace gapscope;
using namespace gapscope::test;
using namespace std::string_literals;

namespace {

struct Foreign {
  const char* name;
  std::string bytes;
  const char* is;  // what the sentence says it is
};

const std::vector<Foreign>& foreign_files() {
  static const std::vector<Foreign> kFiles = {
      {"a.sqlite", "SQLite format 3\0.."s + "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL",
       "a damaged Nsight Systems export (SQLite)"},
      {"a.db", "SQLite format 3\0.."s + "CREATE TABLE rocpd_kernel",
       "a recording of ROCm's profiler (rocpd, SQLite), not a trace. Record with rocprofv3 --output-format json instead"},
      {"a.rpd", "SQLite format 3\0.."s + "CREATE TABLE rocpd_api", "a recording of rocmProfileData"},
      {"a.sqlite", "SQLite format 3\0.."s + "CREATE TABLE CUPTI_ACTIVITY_KIND_CONCURRENT_KERNEL",
       "a recording of nvprof (SQLite), not a trace. Record the program again: gapscope record -- COMMAND, or nsys profile."},
      {"a.nvvp", "SQLite format 3\0.."s, "a recording of nvprof"},
      {"a.db", "SQLite format 3\0.."s + "CREATE TABLE STRING_IDS; CREATE TABLE TASK",
       "a database of Ascend's profiler (SQLite), not a trace. Open the trace_view.json"},
      {"a.sqlite", "SQLite format 3\0.."s + "CREATE TABLE StringIds",
       "an Nsight Systems export (SQLite) in which nothing of a GPU was recorded, not a trace. Record again with nsys profile"},
      {"a.csv", "\"Kind\",\"Agent_Id\",\"Queue_Id\"\n"s, "a table of rocprofv3 (CSV), not a trace. Record with rocprofv3"},
      {"a.csv", "Start (ns),Duration (ns),CorrId\n"s, "a table of nsys stats (CSV), not a trace. Export it: nsys export"},
      {"a.csv", "\"ID\",\"Process ID\",\"Process Name\"\n"s, "a table of Nsight Compute (CSV)"},
      {"a.json", "{\"Type\": 80, \"NvtxEvent\": {\"Text\": \"a\"}}\n{\"Type\": 79}\n"s, "an Nsight Systems export (JSON)"},
      {"a.sqlite", "SQLite format 3\0.."s, "an SQLite database"},
      {"a.nsys-rep", "\1\2\3 binary"s,
       "an Nsight Systems report, not a trace. Export it: nsys export --type sqlite REPORT.nsys-rep, and open the .sqlite "
       "file. gapscope --export REPORT.nsys-rep does both."},
      {"a.ncu-rep", "NVR\0"s, "an Nsight Compute report"},
      {"a.pickle",
       "\x80\4}(\x8c\x08segments]\x8c\x0d"
       "device_traces"s,
       "a CUDA memory snapshot (pickle), not a trace. Read it with gapscope snapshot FILE."},
      {"memory.prof", "\x0a\x04\x08\1\x10\2\x0a\x04\x08\3\x10\4\x12\x06"s, "a memory profile of JAX (pprof)"},
      {"0",
       "\x80\4}(\x8c\x07version\x8c\x03"
       "2.4\x8c\x09pg_config"s,
       "a dump of NCCL's flight recorder"},
      {"a.pkl", "\x80\4]."s, "a Python pickle"},
      {"events.out.tfevents.1.host", "\x18\0\0\0\0\0\0\0\1\2\3\4\x09"s, "a TensorBoard event file"},
      {"renamed",
       "\x18\0\0\0\0\0\0\0\1\2\3\4\x09\0\0\0\x1a\x0d"
       "brain.Event:2"s,
       "a TensorBoard event file"},
      {"host.xplane.pb", "\x0a\x05\1"s, "a profile of JAX or TensorFlow (XPlane)"},
      {"a.pftrace", "\x0a\x04\1\2\3\4"s, "a Perfetto trace"},
      {"renamed", "\x0a\x04\1\2\3\4\x0a\x02\1\2\x0a\x01\1"s, "a Perfetto trace"},
      {"a.et", "\1\2\3"s, "an execution trace (Chakra)"},
      {"a.png", "\x89PNG\r\n\x1a\n"s, "a picture (PNG)"},
      {"a.json", "\n<!DOCTYPE html>\n<html lang=\"en\"><title>GitHub</title>"s, "a page of GitHub (HTML)"},
      {"a.json", "<!doctype html><html><body>Sign in</body></html>"s, "a web page (HTML)"},
      {"m.html", "<html><head><title>GPU Memory Timeline HTML</title></head>"s, "a memory timeline of PyTorch (HTML)"},
      {"a.json", "<?xml version=\"1.0\"?><Error><Code>AccessDenied</Code></Error>"s, "an error message of the server"},
      {"a.json", "version https://git-lfs.github.com/spec/v1\noid sha256:1\n"s, "a pointer of git-lfs"},
      {"a.json.bz2", "BZh91AY"s, "packed with bzip2"},
      {"a.7z", "7z\xbc\xaf\x27\x1c"s, "an archive of 7-Zip"},
      {"train.log", "step 1 loss 0.3\nstep 2\n"s, "a text file that begins with \"step 1 loss 0.3\""},
      {"a.json", R"([{"startComputeMs": 1.0, "endComputeMs": 2.0, "latencyMs": 3}])",
       "a list of times (trtexec --exportTimes)"},
      {"a.json", R"([{"count": 10}, {"name": "conv", "timeMs": 1, "averageMs": 1, "percentage": 9}])",
       "a profile of a TensorRT engine's layers (trtexec --exportProfile)"},
      {"a.json", R"({"Layers": [{"Name": "conv"}], "Bindings": ["x"]})", "a list of a TensorRT engine's layers"},
      {"a.json", R"({"schema": "1.1.1-chakra.0.0.4", "pid": 1, "nodes": [{"id": 1}]})",
       "an execution trace of PyTorch (Chakra)"},
      {"a.json", R"({"version": "2.5", "pg_config": {}, "pg_status": {}, "entries": [{"frames": []}]})",
       "a dump of NCCL's flight recorder"},
      {"a.json", R"([[1, 2, 3], [[4], [5], [6]]])", "an array of arrays, as export_memory_timeline() writes"},
      {"a.json", R"({"message": "Not Found", "documentation_url": "https://docs.github.com"})", "an error message of GitHub"},
      {"a.json", R"([{"a": 1}, {"a": 2}])", "a JSON array, not a trace: none of its 2 elements is an event"},
  };
  return kFiles;
}

}  // namespace

TEST_CASE("what is no trace is called what it is, packed too, with the one thing to do with it") {
  const TempFolder folder;
  for (const Foreign& foreign : foreign_files()) {
    CAPTURE(foreign.is);
    for (const bool is_packed : {false, true}) {
      const std::string name = foreign.name + (is_packed ? ".gz"s : ""s);
      const std::string path = folder.write(name, is_packed ? gzip_text(foreign.bytes) : foreign.bytes);
      const auto loaded = load_trace(path);
      REQUIRE(!loaded.ok());
      const std::string& said = loaded.error().message;
      CAPTURE(said);
      CHECK(said.find(" is "s + foreign.is) != std::string::npos);
      CHECK(said.starts_with(path));
      CHECK(said.find(". ", said.find(foreign.is)) != std::string::npos);  // and a second sentence
    }
  }
}

TEST_CASE("no beginning of a trace is taken for something else") {
  for (const char* beginning : {"{\"traceEvents\": [", "[{\"ph\": \"X\"", "\xef\xbb\xbf{\"traceEvents\": []"})
    CHECK(foreign_json({"traceEvents"}, beginning, "x").empty());
  CHECK(load_text("[{\"ph\": \"X\", \"ts\": 1, \"dur\": 1, \"name\": \"latencyMs computeMs\"}, {\"a\": 1}]")->slice_count() ==
        1);
}
