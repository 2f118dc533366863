#include "tests/failure/operations.h"

#include <chrono>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <semaphore>

#include <unistd.h>
#include <zlib.h>

#include "app/session/session.h"
#include "core/analyze/gpu/kernel_table.h"
#include "core/base/failure.h"
#include "core/index/choose_crop.h"
#include "core/load/args.h"
#include "core/load/crop.h"
#include "core/load/load_trace.h"
#include "core/view/compare/compare_model.h"
#include "core/view/document.h"
#include "core/view/search/slice_search.h"
#include "core/view/steps/steps_model.h"
#include "tests/failure/failing_system.h"
#include "tests/support/dump_trace.h"
#include "tests/support/temp_folder.h"
#include "tests/support/two_traces.h"

namespace gapscope::test {
namespace {

using Trouble = std::optional<Error>;

// Every kind of event, some of them damaged, in more blocks than one.
std::string tiny_text() {
  std::string text =
      R"({"schemaVersion": 1, "deviceProperties": [{"id": 0, "name": "NVIDIA H200", "numSms": 132}], "traceEvents": [
{"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}},
{"ph": "i", "s": "t", "name": "mark", "pid": 1, "tid": 1, "ts": 1.5},
{"ph": "C", "name": "level", "pid": 1, "ts": 2, "args": {"a": 1.5}},
{"ph": "b", "cat": "x", "id": 4, "name": "span", "pid": 1, "tid": 1, "ts": 3}, {"ph": "e", "cat": "x", "id": 4, "name": "span", "pid": 1, "tid": 1, "ts": 9},
{"ph": "X", "name": "damaged, "pid": 1, "tid": 1, "ts": 4, "dur": 1},
{"ph": "i", "s": "t", "name": "[memory]", "pid": 1, "tid": 1, "ts": 5, "args": {"Total Allocated": 1024, "Bytes": 512, "Device Id": 0, "Device Type": 1, "Addr": 77}})";
  for (int i = 0; i < 4; ++i) {
    const std::string at = std::to_string(1000 * (i + 1)), id = std::to_string(i + 10);
    text += ",\n{\"ph\": \"X\", \"cat\": \"user_annotation\", \"name\": \"ProfilerStep#" + std::to_string(i) +
            "\", \"pid\": 1, \"tid\": 1, \"ts\": " + at + ", \"dur\": 900}";
    text += ",\n{\"ph\": \"X\", \"cat\": \"cpu_op\", \"name\": \"aten::mm\", \"pid\": 1, \"tid\": 1, \"ts\": " + at +
            ".5, \"dur\": 400, \"args\": {\"External id\": " + id +
            ", \"Input Dims\": [[64, 64], [64, 64]], \"Input type\": [\"float\", \"float\"]}}";
    text +=
        ",\n{\"ph\": \"X\", \"cat\": \"cuda_runtime\", \"name\": \"cudaLaunchKernel\", \"pid\": 1, \"tid\": 1, \"ts\": " + at +
        ".6, \"dur\": 10, \"args\": {\"External id\": " + id + ", \"correlation\": " + id + "}}";
    text +=
        ",\n{\"ph\": \"X\", \"cat\": \"kernel\", \"name\": \"_ZN7my_gemmILi512EfEEvT0_\", \"pid\": 0, \"tid\": 7, \"ts\": " +
        at + ".9, \"dur\": 200, \"args\": {\"External id\": " + id +
        ", \"device\": 0, \"context\": 1, \"stream\": 7, \"correlation\": " + id +
        ", \"registers per thread\": 32, \"grid\": [8, 8, 1], \"block\": [256, 1, 1]}}";
    text += ",\n{\"ph\": \"s\", \"cat\": \"ac2g\", \"id\": " + id +
            ", \"name\": \"ac2g\", \"pid\": 1, \"tid\": 1, \"ts\": " + at + ".6}";
    text += ",\n{\"ph\": \"f\", \"bp\": \"e\", \"cat\": \"ac2g\", \"id\": " + id +
            ", \"name\": \"ac2g\", \"pid\": 0, \"tid\": 7, \"ts\": " + at + ".9}";
  }
  return text + "\n], \"traceName\": \"tiny\"}";
}

std::string packed(const std::string& text) {
  z_stream z{};
  deflateInit2(&z, 6, Z_DEFLATED, 15 + 16, 8, Z_DEFAULT_STRATEGY);
  std::string out(text.size() + 1000, '\0');
  z.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(text.data()));
  z.avail_in = static_cast<uInt>(text.size());
  z.next_out = reinterpret_cast<Bytef*>(out.data());
  z.avail_out = static_cast<uInt>(out.size());
  deflate(&z, Z_FINISH);
  out.resize(out.size() - z.avail_out);
  deflateEnd(&z);
  return out;
}

// The trace as a file in a folder that goes with the program.
std::string file_of(const std::string& trace, bool as_packed = false) {
  if (!trace.empty()) return trace;
  static const TempFolder folder;
  return folder.write(as_packed ? "tiny.json.gz" : "tiny.json", as_packed ? packed(tiny_text()) : tiny_text());
}

LoadOptions load_options(int threads, bool is_tiny) {
  LoadOptions options;
  options.threads = threads;
  if (is_tiny) options.batch_bytes = 600;
  return options;
}

// What is loaded is the same as without a failure.
Operation load_again(const std::string& path, const LoadOptions& options) {
  const auto last = std::make_shared<std::shared_ptr<const Trace>>();
  const std::string whole = dump_trace(**load_trace(path, options));
  return {[=]() -> Trouble {
            const auto loaded = load_trace(path, options);
            if (!loaded.ok()) return loaded.error();
            *last = *loaded;
            return std::nullopt;
          },
          [=](bool succeeded) -> Trouble {
            return !succeeded || dump_trace(**last) == whole ? std::nullopt
                                                             : Trouble(Error{"something is missing in what was loaded"});
          }};
}

std::function<Operation(const std::string&)> load_with(int threads, bool as_packed) {
  return [=](const std::string& trace) { return load_again(file_of(trace, as_packed), load_options(threads, trace.empty())); };
}

// With parts of it while it loads.
Operation load_in_parts(const std::string& trace) {
  LoadOptions options = load_options(2, trace.empty());
  options.least_bytes_for_parts = 1;
  options.on_part = [](const std::shared_ptr<const Trace>& part, const std::atomic<bool>& cancel) {
    (void)Document::make(part, &cancel);
  };
  return load_again(file_of(trace), options);
}

std::shared_ptr<const Trace> loaded(const std::string& trace) { return *load_trace(file_of(trace)); }

// `work` on a document that is there and analysed.
template <class Work>
std::function<Operation(const std::string&)> on_document(Work work) {
  return [work](const std::string& trace) -> Operation {
    std::shared_ptr<const Document> document = Document::make(loaded(trace), nullptr);
    document->diagnose();
    return {[document, work]() -> Trouble { return work(*document); }};
  };
}

// What is only done once for a document: with a new one each time.
Operation diagnose_new(const std::string& trace) {
  return {[trace = loaded(trace)]() -> Trouble {
    Document::make(trace, nullptr)->diagnose();
    return std::nullopt;
  }};
}
Operation index_new(const std::string& trace) {
  return {[trace = loaded(trace)]() -> Trouble {
    (void)Document::make(trace, nullptr);
    return std::nullopt;
  }};
}

Trouble table(const Document& d) {
  for (const TableMode mode : {TableMode::exact, TableMode::corrected})
    (void)make_op_table(d.trace, d.analysis()->op_events(mode), {{}, true});
  return {};
}
Trouble kernels(const Document& d) { return (void)kernel_table(d.trace, d.links, d.trace.span), std::nullopt; }
Trouble steps(const Document& d) { return (void)answer(d, StepsQuestion{}, nullptr), std::nullopt; }
Trouble search(const Document& d) {
  (void)find_slices(d.trace, d.names, {"aten", false}, nullptr);
  (void)find_slices(d.trace, d.names, {"a.*m+", true}, nullptr);
  return {};
}
Trouble area(const Document& d) { return (void)answer(d, AreaQuestion{whole_area(d.trace)}, nullptr), std::nullopt; }
Trouble flame(const Document& d) {
  for (const PathTime time : {PathTime::cpu, PathTime::gpu, PathTime::module})
    (void)answer(d, FlameQuestion{whole_area(d.trace), time}, nullptr);
  return {};
}
Trouble args(const Document& d) {
  const auto got = read_args(d.trace, d.trace.slices.offset[0]);
  return got.ok() ? std::nullopt : Trouble(got.error());
}
Trouble crop(const Document& d) {
  static const TempFolder folder;
  for (const char* name : {"part.json", "part.json.gz"}) {
    const auto written = write_crop(d.trace, choose_crop(d.trace, d.links, d.trace.span),
                                    (std::filesystem::path(folder.path()) / name).string());
    if (!written.ok()) return written.error();
  }
  return {};
}

Operation compare_two(const std::string& trace) {
  const auto first = trace.empty() ? *load_trace_from_text(kBefore) : loaded(trace);
  const auto second = trace.empty() ? *load_trace_from_text(kAfter) : first;
  return {[a = Document::make(first, nullptr), b = Document::make(second, nullptr)]() -> Trouble {
    const auto answer = answer_comparison(*a, *b, {});
    return answer && !answer->error.empty() ? Trouble(Error{answer->error}) : std::nullopt;
  }};
}

// A window's session opens the trace: it is there, or a sentence is; and then it opens all the same.
std::optional<Error> open_in(Session& session, ViewState& view, std::counting_semaphore<>& woken, const std::string& path) {
  std::optional<Error> frame_trouble;
  session.open(path);
  do {
    (void)woken.try_acquire_for(std::chrono::milliseconds(5));
    try {
      session.poll(view);
    } catch (...) {
      frame_trouble = current_failure("draw the window");  // as a frame does
    }
  } while (session.is_loading());
  if (session.document() != nullptr) return std::nullopt;
  return frame_trouble ? frame_trouble : Trouble(Error{session.message()});
}

Operation session(const std::string& trace) {
  // Without settings: nlohmann::json takes memory to let go of memory, and ends the program where there is none (with a
  // sentence).
  struct Desk {
    std::counting_semaphore<> woken{0};
    ViewState view{};
    std::unique_ptr<Session> session{};
  };
  const auto desk = std::make_shared<Desk>();
  return {[desk, path = file_of(trace)]() -> Trouble {
            desk->session.reset();
            desk->session = std::make_unique<Session>(SessionOptions{{}, {}, {}, [d = desk.get()] { d->woken.release(); }});
            return open_in(*desk->session, desk->view, desk->woken, path);
          },
          [desk, path = file_of(trace)](bool) -> Trouble {
            return desk->session ? open_in(*desk->session, desk->view, desk->woken, path) : std::nullopt;
          }};
}

}  // namespace

const std::map<std::string, std::function<Operation(const std::string& trace)>>& operations() {
  static const std::map<std::string, std::function<Operation(const std::string&)>> all = {
      {"load_1", load_with(1, false)},
      {"load_2", load_with(2, false)},
      {"load_7", load_with(7, false)},
      {"load_1_packed", load_with(1, true)},
      {"load_2_packed", load_with(2, true)},
      {"load_7_packed", load_with(7, true)},
      {"load_in_parts", load_in_parts},
      {"index", index_new},
      {"diagnose", diagnose_new},
      {"table", on_document(table)},
      {"kernels", on_document(kernels)},
      {"steps", on_document(steps)},
      {"search", on_document(search)},
      {"area", on_document(area)},
      {"flame", on_document(flame)},
      {"args", on_document(args)},
      {"crop", on_document(crop)},
      {"compare", compare_two},
      {"session", session},
  };
  return all;
}

}  // namespace gapscope::test
