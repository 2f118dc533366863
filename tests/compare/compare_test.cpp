// Steps, operator trees, findings and verdict of two made-up recordings.
#include <cmath>

#include <doctest/doctest.h>

#include "core/compare/pair_findings.h"
#include "core/compare/side_reader.h"
#include "core/compare/step_tree.h"
#include "tests/support/load_text.h"
#include "tests/support/tiny_steps.h"

using namespace gapscope;
using namespace gapscope::test;

namespace {

constexpr const char* kGemm = "nvjet_sm90_tst_64x8_64x16_1x4_h_bz_NNT";
const TinyRun kEager = {{{"aten::mm", kGemm, 9}, {"aten::relu", "relu_kernel", 3}}};

std::string error_of(const TinyRun& a, const TinyRun& b, const CompareOptions& options) {
  const auto doc_a = document_from_text(tiny_run(a)), doc_b = document_from_text(tiny_run(b));
  const auto out = compare(compared(*doc_a), compared(*doc_b), options);
  REQUIRE(!out.ok());
  return out.error().message;
}

const OperatorNode* node_named(const Comparison& c, std::string_view a, std::string_view b) {
  for (const OperatorNode& n : c.operators)
    if (n.name_a == a && n.name_b == b) return &n;
  return nullptr;
}

}  // namespace

TEST_CASE("median and quartiles lie between the two nearest values") {
  const StepSpread s = spread_of({40, 10, 30, 20});
  CHECK(s.min == 10);
  CHECK(s.lower == 17);
  CHECK(s.median == 25);
  CHECK(s.upper == 32);
  CHECK(s.max == 40);
  CHECK(s.mean == 25);
  CHECK(spread_of({}).median == 0);
  CHECK(spread_of({7}).upper == 7);
}

TEST_CASE("the first step is cold and left out; the others give the figures") {
  const Comparison c = compare_runs(kEager, kEager);
  CHECK(c.a.steps == 3);
  CHECK(c.a.counted == 2);
  REQUIRE(c.a.cold.has_value());
  CHECK(c.a.cold->front() == 90'000);
  CHECK(c.a.of(StepFigure::cpu).median == 50'000);
  CHECK(c.a.of(StepFigure::gpu_time).median == 12'000);
  CHECK(c.a.of(StepFigure::kernels).median == 2);
  CHECK(c.a.of(StepFigure::launches).median == 2);
  CHECK(c.a.picked == "ProfilerStep#1");
  // 1000 µs from the end of the step before (45 µs into it) to the end of this one, less 12 µs of work.
  CHECK(c.a.of(StepFigure::idle).max <= 960'000);
}

TEST_CASE("the interval of a ratio is that of the steps that count") {
  const Comparison c = compare_runs(kEager, {kEager.ops, 3, 40});  // steps of 50 us and of 90 us, all alike but the first
  const auto& interval = c.change(StepFigure::cpu).interval;
  REQUIRE(interval);
  CHECK(interval->low == doctest::Approx(50.0 / 90));
  CHECK(interval->high == doctest::Approx(50.0 / 90));
}

TEST_CASE("a trace against itself has no difference") {
  const Comparison c = compare_runs(kEager, kEager);
  CHECK(c.verdict == "No difference: times, launches and kernels of both traces are the same.");
  for (const FigureChange& change : c.changes) CHECK(!change.differs);
  for (const OperatorNode& n : c.operators) CHECK(n.state == NodeState::matched);
  CHECK(finding_of(c, "pair_same_gpu_work") != nullptr);
  CHECK(c.findings.size() == 1);
}

TEST_CASE("operators of equal name are distinguished by their kernels") {
  const TinyRun a = {{{"aten::add", "x"}, {"aten::add", "y"}, {"aten::add", "z"}}},
                b = {{{"aten::add", "y"}, {"aten::add", "z"}}};
  const Comparison c = compare_runs(a, b);
  REQUIRE(c.operators.size() > 4);
  CHECK(c.operators[1].state == NodeState::only_a);
  for (const OperatorNode& n : c.operators)
    if (n.state == NodeState::matched && n.depth == 3) CHECK(n.name_a == n.name_b);
  CHECK(operator_path(c, 2) == "ProfilerStep#1 > aten::add > cudaLaunchKernel");
}

TEST_CASE("a compiled region matches the operators that it replaces as a group") {
  const TinyRun compiled = {
      {{"TorchDynamo Cache Lookup", ""},
       {"aten::mm", kGemm, 9, "cuLaunchKernelEx", 8, "Torch-Compiled Region: 0/0"},
       {"triton_poi_fused_relu_0", "triton_poi_fused_relu_0", 3, "cuLaunchKernel", 8, "Torch-Compiled Region: 0/0"}},
      3,
      40};
  const Comparison c = compare_runs(kEager, compiled);
  const OperatorNode* group = node_named(c, "aten::mm + aten::relu", "Torch-Compiled Region: 0/0");
  REQUIRE(group != nullptr);
  CHECK(group->replaced);
  CHECK(group->state == NodeState::matched);
  CHECK(group->gpu_a == 12'000);
  CHECK(group->gpu_b == 12'000);
  CHECK(group->cpu_a == 36'000);
  CHECK(group->cpu_b == 80'000 + 38'000);
  CHECK(group->launches_b == 2);
  REQUIRE(node_named(c, "aten::mm", "aten::mm") != nullptr);
  REQUIRE(node_named(c, "cudaLaunchKernel", "cuLaunchKernelEx") != nullptr);

  const ComparisonFinding* tax = finding_of(c, "pair_compile_cpu_tax");
  REQUIRE(tax != nullptr);
  CHECK(tax->tone == Tone::worse);
  CHECK(tax->evidence.front().a == doctest::Approx(50));
  CHECK(tax->evidence.front().b == doctest::Approx(130));
  CHECK(finding_of(compare_runs(compiled, kEager), "pair_compile_cpu_tax") == nullptr);
}

TEST_CASE("the same kernels with another CPU time are the same math") {
  const Comparison c = compare_runs(kEager, {kEager.ops, 3, 60});
  CHECK(c.verdict.find("The GPU does the same math: 1 of 1 GEMM keeps its kernel, and only CPU overhead changed.") !=
        std::string::npos);
  CHECK(c.verdict.starts_with("CPU time per step went 50.0 µs -> 130 µs: 2.60x slower"));
}

TEST_CASE("kernels that compiling left as they are are reported as such") {
  const TinyRun compiled = {{{"aten::mm", kGemm, 9, "cudaLaunchKernel", 8, "Torch-Compiled Region: 0/0"},
                             {"aten::relu", "relu_kernel", 3, "cudaLaunchKernel", 8, "Torch-Compiled Region: 0/0"}}};
  const Comparison c = compare_runs(kEager, compiled);
  REQUIRE(finding_of(c, "pair_same_gpu_work") != nullptr);
  CHECK(finding_of(c, "pair_same_gpu_work")->summary.ends_with("torch.compile did not change the kernels."));
  CHECK(finding_of(compare_runs(kEager, kEager), "pair_same_gpu_work")->summary.ends_with("only the CPU side changed."));
}

TEST_CASE("a graph saves launches, and a copy that addmm added is reported") {
  const TinyRun a = {
      {{"aten::mm", kGemm}, {"aten::add", "add_kernel"}, {"aten::mul", "mul_kernel"}, {"aten::sub", "sub_kernel"}}};
  const Comparison graph = compare_runs(a, {{{"region", kGemm, 9, "cudaGraphLaunch"}}});
  const ComparisonFinding* fewer = finding_of(graph, "pair_fewer_launches");
  REQUIRE(fewer != nullptr);
  CHECK(fewer->title == "A CUDA graph saves launches");
  CHECK(graph.b.of(StepFigure::graph_launches).median == 1);

  const Comparison addmm = compare_runs({{{"aten::mm", kGemm}, {"aten::add", "add_kernel"}}},
                                        {{{"aten::addmm", "Memcpy DtoD (Device -> Device)", 2, "cudaMemcpyAsync"},
                                          {"aten::addmm", "nvjet_sm90_tst_64x8_64x16_1x4_h_badd_NNT"}}});
  const ComparisonFinding* copy = finding_of(addmm, "pair_copy_added");
  REQUIRE(copy != nullptr);
  CHECK(copy->summary ==
        "Only B copies within the device once per step, 2.00 µs in total, under aten::addmm: a full-size bias is copied into "
        "the result before the product.");
  REQUIRE(finding_of(addmm, "pair_kernel_changed") != nullptr);
  CHECK(finding_of(addmm, "pair_kernel_changed")->names_a.size() == 2);
}

TEST_CASE("GPU time that grew by a tenth is reported, and types that changed") {
  const Comparison c =
      compare_runs({{{"aten::mm", kGemm, 10}}}, {{{"aten::mm", "nvjet_sm90_hsh_64x8_64x16_1x4_h_bz_NNT", 12}}});
  CHECK(finding_of(c, "pair_gpu_time_up") != nullptr);
  CHECK(finding_of(c, "pair_types_changed") != nullptr);
  CHECK(finding_of(compare_runs({{{"aten::mm", kGemm, 20}}}, {{{"aten::mm", kGemm, 21}}}), "pair_gpu_time_up") == nullptr);
}

TEST_CASE("findings that only one diagnosis has are gone or new where their time changed, too") {
  const auto quick = document_from_text(tiny_run({{{"aten::mm", kGemm, 9}}}));
  const auto busy = document_from_text(tiny_run({{{"aten::mm", kGemm, 39}}}));  // 30 µs more work
  const std::vector<NamedFinding> kept = {{"kept", "Kept", false}};
  const auto diff = [&](bool is_new, Ns cost) {
    const std::vector<NamedFinding> with = {{"hidden_memcpy", "Implicit copy", true, cost, false}, kept[0]};
    ComparedTrace a = compared(is_new ? *quick : *busy), b = compared(is_new ? *busy : *quick);
    a.diagnosed = is_new ? kept : with, b.diagnosed = is_new ? with : kept;
    const auto out = compare(a, b);
    REQUIRE(out.ok());
    const ComparisonFinding* found = finding_of(*out, is_new ? "finding_new" : "finding_gone");
    REQUIRE(found != nullptr);
    return *found;
  };
  CHECK(diff(true, 40 * kNsPerUs).tone == Tone::worse);
  CHECK(diff(true, 40 * kNsPerUs).summary == "Implicit copy.");
  CHECK(diff(true, 90 * kNsPerUs).tone == Tone::neutral);
  CHECK(diff(true, 90 * kNsPerUs).summary == "New, but the time did not grow: Implicit copy.");
  CHECK(diff(false, 40 * kNsPerUs).tone == Tone::better);
  CHECK(diff(false, 40 * kNsPerUs).names_a == std::vector<std::string>{"hidden_memcpy"});
  CHECK(diff(false, 90 * kNsPerUs).summary == "Gone, but the time did not shrink: Implicit copy.");
}

TEST_CASE("--step takes a number or all steps, and says which there are") {
  CompareOptions two{StepPick::number, 2, {}}, all{StepPick::all, 0, {}}, none{StepPick::number, 7, {}};
  CHECK(compare_runs(kEager, kEager, two).a.picked == "ProfilerStep#2");
  const Comparison c = compare_runs(kEager, {kEager.ops, 2}, all);
  CHECK(c.kernel_totals[0].count_a == 4);
  CHECK(c.kernel_totals[static_cast<std::size_t>(KernelChangeClass::removed)].count_a == 2);
  CHECK(c.operators[0].gpu_a == 36'000);
  CHECK(c.operators[0].gpu_b == 24'000);
  CHECK(error_of(kEager, kEager, none) == "\"text\" has no step 7: it has ProfilerStep#0 to ProfilerStep#2.");
}

TEST_CASE("steps added up are reported as such, and each is compared with its own like") {
  const TinyRun a = {{{"aten::mm", kGemm, 10}}}, b = {{{"aten::mm", "nvjet_sm90_hsh_64x8_64x16_1x4_h_bz_NNT", 10},
                                                       {"aten::copy_", "Memcpy DtoD (Device -> Device)", 2}}};
  const Comparison c = compare_runs(a, b, {StepPick::all, 0, {}});
  REQUIRE(finding_of(c, "pair_types_changed") != nullptr);
  CHECK(finding_of(c, "pair_types_changed")->summary.starts_with("3 kernels in all steps: 30.0 µs -> 30.0 µs."));
  CHECK(finding_of(c, "pair_copy_added")->summary ==
        "Only B copies within the device 3 times in all steps, 6.00 µs in total, under aten::copy_.");
}

TEST_CASE("in a file of two ranks a step counts the work of its own process") {
  std::string text = tiny_run({{{"aten::mm", kGemm, 10}}});
  text.insert(
      text.rfind(']'),
      ",\n" +
          std::string(
              R"({"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 999, "tid": 1, "ts": 2010, "dur": 3, "args": {"correlation": 77}})") +
          ",\n" + tiny_event("kernel", "other_rank", 7, 2020, 5, "\"device\": 1, \"stream\": 7, \"correlation\": 77"));
  const Comparison c = compare_texts(text, text, {StepPick::number, 1, {}});
  CHECK(c.a.picked_values[static_cast<std::size_t>(StepFigure::kernels)] == 1);
  CHECK(c.operators[0].kernels_a == 1);
}

TEST_CASE("an annotation can mark steps; one that is not there is a sentence") {
  const TinyRun marked = {kEager.ops, 3, 20, "iteration"};
  const CompareOptions options{StepPick::median, 0, "iteration"};
  CHECK(compare_runs(marked, marked, options).a.steps == 3);
  CHECK(error_of(marked, kEager, options) == "\"text\" has no annotation \"iteration\"; it has none at all.");
  CHECK(error_of(marked, marked, {StepPick::median, 0, "loop"}) ==
        "\"text\" has no annotation \"loop\"; it has \"iteration\".");
  CHECK(error_of(marked, marked, {StepPick::number, 3, "iteration"}) ==
        "\"text\" has no instance 3 of \"iteration\": it has 3, counted from 0.");
}

TEST_CASE("without steps the whole trace is one step, and a note says so") {
  const TinyRun plain = {kEager.ops, 2, 20, ""};
  const Comparison c = compare_runs(plain, kEager);
  CHECK(c.a.steps == 1);
  CHECK(!c.a.cold.has_value());
  CHECK(c.a.of(StepFigure::kernels).median == 4);
  REQUIRE(!c.notes.empty());
  CHECK(c.notes.front() == "A has no ProfilerStep#: its whole trace counts as one step.");
  CHECK(error_of(plain, plain, {StepPick::number, 0, {}}) == "\"text\" has no steps, so there is no step 0: leave out --step.");
  const Comparison whole = compare_runs(plain, {kEager.ops, 2, 40, ""});
  CHECK(whole.of_whole());
  CHECK_MESSAGE(whole.verdict.find("step") == std::string::npos, whole.verdict);
  CHECK_MESSAGE(whole.verdict.find("CPU time ") != std::string::npos, whole.verdict);
  for (const ComparisonFinding& f : whole.findings)
    CHECK_MESSAGE((f.title + f.summary).find("step") == std::string::npos, f.summary);
  CHECK_FALSE(c.of_whole());
  const TinyRun marked = {kEager.ops, 2, 20, "iteration"};
  CHECK(compare_runs(marked, marked).notes.front().find("--annotation \"iteration\" compares its instances") !=
        std::string::npos);
}

TEST_CASE("where neither trace has steps, what both mark and one has more often replaces steps") {
  const TinyRun once = {kEager.ops, 1, 20, "call"}, thrice = {kEager.ops, 3, 20, "call"};
  const Comparison c = compare_runs(once, thrice);
  CHECK(c.a.steps_of == "call");
  CHECK(c.a.counted == 1);
  CHECK(c.b.counted == 2);
  CHECK(c.b.of(StepFigure::kernels).median == 2);
  CHECK(c.notes.front() == "Neither trace has ProfilerStep#: each \"call\" counts as a step, 1 in A and 3 in B.");
  CHECK(compare_runs(thrice, thrice).b.of(StepFigure::kernels).median == 2);
  const TinyRun bare = {kEager.ops, 3, 20, ""};
  CHECK_FALSE(compare_runs(once, bare).a.annotated);
}

TEST_CASE("traces without GPU work, without CPU work or without anything compare in sentences") {
  const std::string cpu_only = tiny_run({{{"aten::add", ""}}}), both = tiny_run(kEager);
  const std::string gpu_only =
      "{\"traceEvents\": [" + tiny_event("kernel", "k", 7, 100, 5, "\"device\": 0, \"stream\": 7") + "]}";
  const std::string instant = R"({"traceEvents": [{"ph": "i", "name": "x", "pid": 1, "tid": 1, "ts": 5}]})";
  for (const std::string& a : {cpu_only, both, gpu_only, instant}) {
    for (const std::string& b : {cpu_only, both, gpu_only, instant}) {
      const Comparison c = compare_texts(a, b);
      CHECK(!c.verdict.empty());
      CHECK(c.verdict.find("nan") == std::string::npos);
      CHECK(c.verdict.find("inf") == std::string::npos);
      for (const FigureChange& change : c.changes)
        if (change.ratio) CHECK(std::isfinite(*change.ratio));
    }
  }
  CHECK(compare_texts(cpu_only, both).verdict.find("Only B has GPU work") != std::string::npos);
  CHECK(compare_texts(cpu_only, cpu_only).notes.front().starts_with("A has no GPU work"));
  CHECK(compare_texts(gpu_only, gpu_only).a.of(StepFigure::kernels).median == 1);
}

TEST_CASE("a tree that is too large loses its deepest levels, not its sums") {
  const auto doc = document_from_text(tiny_run(kEager));
  const ComparedTrace trace = compared(*doc);
  const auto side = read_side(trace, {});
  REQUIRE(side.ok());
  PlainNameKeys keys(doc->trace);
  const StepTree whole = step_tree(*side, keys), cut = step_tree(*side, keys, 3);
  CHECK(whole.nodes.size() == 7);
  CHECK(!whole.cut);
  CHECK(cut.nodes.size() == 3);
  CHECK(cut.cut);
  CHECK(cut.nodes[0].gpu == whole.nodes[0].gpu);
  CHECK(cut.nodes[0].end == 3);
}

TEST_CASE("a comparison that is cancelled ends early") {
  const auto doc = document_from_text(tiny_run(kEager));
  const std::atomic<bool> cancel{true};
  const auto c = compare(compared(*doc), compared(*doc), {}, &cancel);
  REQUIRE(c.ok());
  CHECK(c->operators.empty());
}

TEST_CASE("a middle step that hides what the others take is contradicted by the mean") {
  const auto steps = [](std::string_view last) {
    std::string text;
    for (int i = 0; i < 4; ++i)
      text += (i == 0 ? "" : ",") + slice(fmt::format("ProfilerStep#{}", i), std::to_string(i * 1000),
                                          i == 3 ? std::string(last) : "100", "", "user_annotation");
    return events(text);
  };
  const auto verdict = [&](std::string_view last) {
    const auto a = document_from_text(steps(last)), b = document_from_text(steps("100"));
    return compare(compared(*a), compared(*b))->verdict;
  };
  CHECK(verdict("900").find("The mean step differs: 367 µs -> 100 µs, because single steps take up to 900 µs in A and "
                            "100 µs in B.") != std::string::npos);
  CHECK(verdict("110").find("mean step") == std::string::npos);
}

TEST_CASE("a memset inside a graph is the memset outside of it") {
  const Comparison c = compare_runs({{{"aten::zero_", "Memset (Device)", 2, "cudaMemsetAsync"}}},
                                    {{{"aten::zero_", "Memset (Unknown)", 2, "cudaMemsetAsync"}}});
  CHECK(finding_of(c, "pair_kernel_changed") == nullptr);
}

TEST_CASE("kernels that do other amounts of work are neither better nor worse") {
  KernelChanges kernels;
  kernels.rows.push_back(
      {KernelChangeClass::same, "k", "k", "", 1, 1, 10 * kNsPerUs, 30 * kNsPerUs, {}, false, {}, {}, {}, {}});
  CHECK(work_findings(kernels, true).at(0).tone == Tone::worse);
  CHECK(work_findings(kernels, false).at(0).tone == Tone::neutral);
  CHECK(work_findings(kernels, false).at(0).summary == "k 10.0 µs -> 30.0 µs (+200 %), for amounts of work that may differ.");
}

TEST_CASE("a ratio says no more digits than it is worth") {
  CHECK(ratio_text(StepFigure::cpu, 1.358) == "1.36x faster");
  CHECK(ratio_text(StepFigure::cpu, 10375.92) == "10376x faster");
  CHECK(ratio_text(StepFigure::launches, 1 / 512.4) == "512x more");
}
