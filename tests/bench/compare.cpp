// How long two traces take to compare, against the time of loading both: bench_compare A B [--all]
#include <chrono>
#include <cstdio>
#include <memory>

#include <CLI/CLI.hpp>

#include "core/compare/comparison.h"
#include "core/diagnose/diagnose.h"
#include "core/load/load_trace.h"
#include "core/view/document.h"

using namespace gapscope;

namespace {

double seconds() { return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count(); }

std::shared_ptr<const Trace> load(const std::string& path) {
  auto trace = load_trace(path);
  if (!trace.ok()) std::fprintf(stderr, "%s\n", trace.error().message.c_str());
  return trace.ok() ? *trace : nullptr;
}

void diagnose_once(const Document& document) { (void)diagnosis_of(document.session); }

}  // namespace

int main(int argc, char** argv) {
  CLI::App app("Times the parts of gapscope diff");
  std::string path_a, path_b;
  CompareOptions options;
  app.add_option("A", path_a)->required();
  app.add_option("B", path_b)->required();
  app.add_flag_callback("--all", [&] { options.pick = StepPick::all; });
  CLI11_PARSE(app, argc, argv);
  const double begin = seconds();
  const auto a = load(path_a), b = load(path_b);
  if (!a || !b) return 1;
  const double loaded = seconds();
  const Document document_a(a), document_b(b);
  const double indexed = seconds();
  diagnose_once(document_a), diagnose_once(document_b);
  const double diagnosed = seconds();
  const auto out = compare({document_a.session}, {document_b.session}, options);
  const double end = seconds();
  if (!out.ok()) return std::fprintf(stderr, "%s\n", out.error().message.c_str()), 1;
  std::printf("load %.2f s, indexes %.2f s, diagnoses %.2f s, comparison %.2f s (%zu operators): %.2f times loading\n",
              loaded - begin, indexed - loaded, diagnosed - indexed, end - diagnosed, out->operators.size(),
              (end - begin) / (loaded - begin));
  return 0;
}
