// Recordings of programs that are no Python: nothing that is said about them supposes Python or PyTorch.
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "app/cli/analyses.h"
#include "app/cli/why_report.h"
#include "core/analyze/compiled/compile_use.h"
#include "core/base/text.h"
#include "core/compare/use_table.h"
#include "core/diagnose/diagnose.h"
#include "core/session/missing_words.h"
#include "core/trace/program_kind.h"
#include "core/view/overview/overview_page.h"
#include "core/view/timeline/gap_view.h"
#include "tests/support/diagnosed.h"
#include "tests/support/load_text.h"
#include "tests/support/real_traces.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr std::string_view kRecorded[] = {"recorded_syncs",           "recorded_mul_add_graph",   "recorded_matmul_add_64_cold",
                                          "recorded_matmul_add_4096", "recorded_addmm_4096_copy", "recorded_streams",
                                          "recorded_geglu_mlp_train", "recorded_add_counters",    "recorded_gemm_counters",
                                          "recorded_geglu_counters"};

struct Spoken {
  explicit Spoken(std::string_view name)
      : diagnosed(diagnosed_once(recording(std::string(name)))), trace(diagnosed.document.trace_owner) {}

  RunOverview overview() const { return make_overview(diagnosed.document.session); }
  std::string why() const {
    const std::vector<GpuOp> ops = gpu_ops(*trace, diagnosed.document.links);
    const TimeAccount& account = diagnosed.analysis->account();
    WhyReport report{*trace,           diagnosed.document.lanes,       account,          ops, {}, account.window(),
                     /*by_step=*/true, trust_of(*trace, ops, account), Practices(*trace)};
    for (const DeviceAccount& device : account.devices()) report.devices.push_back(&device);
    return why_text(report);
  }
  std::string diagnosis() const {
    std::string out = diagnosed.diagnosis.verdict + '\n' + diagnosed.diagnosis.trust + '\n';
    for (const RankedFinding& f : diagnosed.diagnosis.findings)
      out += f.finding.summary + '\n' + std::string(meaning_of(f.finding)) + '\n' + std::string(remedy_of(f.finding)) + '\n';
    for (const auto& unjudged : diagnosed.diagnosis.unjudged) out += unjudged.why + '\n';
    return out;
  }
  std::string page() const {
    const std::vector<GpuOp> ops = gpu_ops(*trace, diagnosed.document.links);
    const OverviewPage page = overview_page(*trace, overview(), diagnosed.diagnosis,
                                            compile_use(*trace, diagnosed.document.lanes, diagnosed.document.links, ops));
    std::string out = page.verdict + '\n';
    for (const PageSection& section : page.sections) {
      for (const PageBar& bar : section.bars)
        for (const AccountPart& part : bar.parts) out += std::string(part_words(part, bar.program)) + '\n';
      for (const PageLine& line : section.lines) out += line.label + ' ' + line.value + '\n';
      for (const std::string& note : section.notes) out += note + '\n';
    }
    return out;
  }

  const Diagnosed& diagnosed;
  std::shared_ptr<const Trace> trace;
};

void check_supposes_no_python(const std::string& text) {
  for (const std::string_view word :
       {"Python", "Torch", "torch", "DataLoader", "record_function", "ProfilerActivity", ".item()", "profile_memory",
        "non_blocking", "prof.step", "profiler.step", "schedule(", "schedule=", "foreach", "empty_cache", "zero_grad"}) {
    CAPTURE(word);
    const std::size_t at = text.find(word);
    CHECK_MESSAGE(at == std::string::npos, text.substr(at < 100 ? 0 : at - 100, 200));
  }
}

bool holds(const std::string& text, std::string_view part) { return text.find(part) != text.npos; }

}  // namespace

TEST_CASE("of a recorded program that is no Python nothing told supposes Python or PyTorch") {
  for (const std::string_view name : kRecorded) {
    CAPTURE(name);
    const Spoken said(name);
    CHECK(program_kind(*said.trace) == ProgramKind::other);
    check_supposes_no_python(said.why());
    check_supposes_no_python(said.diagnosis());
    check_supposes_no_python(said.page());
    check_supposes_no_python(memory_report(said.diagnosed.document, {}));
  }
}

TEST_CASE("what a recording lacks is said in words that fit the program") {
  const Spoken other("recorded_syncs");
  const Trace python;
  const auto jax = load_text(R"json([{"ph":"M","pid":1,"name":"process_name","args":{"name":"/host:CPU"}},
{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"name":"a"}])json");
  const auto no_gpu_work_words = [](const Trace& trace) { return trace.producer->no_gpu_work; };
  for (const auto words : {+no_gpu_work_words, no_memory_words, no_steps_words}) {
    check_supposes_no_python(std::string(words(*other.trace)));
    CHECK(contains_ignore_case(words(python), "profile"));
    CHECK_FALSE(contains_ignore_case(words(*jax), "torch"));
    CHECK_FALSE(contains_ignore_case(words(*jax), "ProfilerActivity"));
    CHECK_FALSE(contains_ignore_case(words(*jax), "gapscope record"));
  }
}

TEST_CASE("options of torch.profiler are not named to who recorded a Python program with gapscope record") {
  const auto seen = load_text(R"json({"recorder":"gapscope","command":"/usr/bin/python3 train.py","traceEvents":[
{"ph":"X","pid":1,"tid":1,"ts":1,"dur":2,"cat":"cuda_runtime","name":"cudaLaunchKernel"}]})json");
  REQUIRE(program_kind(*seen) == ProgramKind::python);
  CHECK_FALSE(by_torch_profiler(*seen));
  check_supposes_no_python(std::string(no_memory_words(*seen)));
  check_supposes_no_python(std::string(no_steps_words(*seen)));
  check_supposes_no_python(std::string(seen->producer->no_gpu_work));
  Diagnosis diagnosis;
  diagnosis.bound = Bound::start_up;
  const std::string instead = instead_of_findings(*seen, diagnosis);
  CHECK_FALSE(holds(instead, "schedule("));
  CHECK(holds(instead, "--range or --delay of gapscope record"));
  diagnosis.bound = Bound::not_judged;
  CHECK(holds(instead_of_findings(*seen, diagnosis), "Record with torch.profiler"));
}

TEST_CASE("time in annotations of such a program is its own code's") {
  const Spoken syncs("recorded_syncs");
  CHECK(holds(syncs.why(), "    program code "));
  CHECK(holds(syncs.why(), "program code inside syncs"));
  CHECK(holds(syncs.diagnosis(), "3.60 µs in the program's own code"));
  CHECK(holds(syncs.page(), "host: program code"));
  CHECK(holds(Spoken("recorded_mul_add_graph").diagnosis(), "235 ns in the program's own code"));
  const Spoken cold("recorded_matmul_add_64_cold");
  CHECK(holds(cold.diagnosis(), "19.7 µs in the program's own code"));
  CHECK(holds(cold.diagnosis(), "--range or --delay of gapscope record"));
}

TEST_CASE("a gap in such code is labelled so, and alongside a Python program both have words that are true of both") {
  const Spoken syncs("recorded_syncs"), eager("matmul_add_64_warm_eager");
  const AccountPart own{AccountPart::Kind::idle, IdleCause::python, 1};
  CHECK(part_words(own, program_kind(*syncs.trace)) == "host: program code");
  CHECK(part_words(own, program_kind(*eager.trace)) == "host: Python");
  const auto title = [](const RunOverview& a, const RunOverview& b) {
    for (const UseRow& row : use_table(a, b))
      if (row.key == "account.idle.python") return row.title;
    return std::string();
  };
  CHECK(title(eager.overview(), eager.overview()) == "  Python");
  CHECK(title(eager.overview(), syncs.overview()) == "  program code");
}

TEST_CASE("what another profiler wrote counts as Python, as do a python's command and frames") {
  const auto kind = [](const std::string& top, const std::string& inside = slice("work", "1", "2", "", "user_annotation")) {
    return program_kind(*load_text("{" + top + "\"traceEvents\": [" + inside + "]}"));
  };
  const std::string by_gapscope = "\"recorder\": \"gapscope\", ";
  CHECK(kind("") == ProgramKind::python);
  CHECK(kind("\"recorder\": \"another\", \"command\": \"./a.out\", ") == ProgramKind::python);
  CHECK(kind(by_gapscope) == ProgramKind::other);
  CHECK(kind(by_gapscope + "\"command\": \"./a.out python\", ") == ProgramKind::other);
  CHECK(kind(by_gapscope + "\"command\": \"/opt/python/bin/solver --steps 3\", ") == ProgramKind::other);
  CHECK(kind(by_gapscope + "\"command\": \"python3 train.py\", ") == ProgramKind::python);
  CHECK(kind(by_gapscope + "\"command\": \"/usr/bin/python3.11 -m torch.distributed.run x.py\", ") == ProgramKind::python);
  CHECK(kind(by_gapscope + "\"command\": 7, ") == ProgramKind::other);
  CHECK(kind(by_gapscope + "\"command\": \"./a.out\", ", slice("a.py(1): f", "1", "2", "", "python_function")) ==
        ProgramKind::python);
}
