#pragma once
// `gapscope gpu|steps|launches|memory|flops|counters|compile TRACE [--json]`: one analysis each on stdout.
#include <string>

namespace gapscope {

struct Document;
class TraceSession;

struct AnalysisOptions {
  std::string trace;       // "-" is standard input
  std::string annotation;  // steps: empty for ProfilerStep#N
  bool json = false;
};

// The text of one analysis: JSON, or aligned for people. What is missing from the trace is a sentence that says how to record
// it.
using AnalysisText = std::string (*)(const TraceSession& session, const AnalysisOptions& options);

std::string gpu_report(const TraceSession& session, const AnalysisOptions& options);
std::string steps_report(const TraceSession& session, const AnalysisOptions& options);
std::string launches_report(const TraceSession& session, const AnalysisOptions& options);
std::string flops_report(const TraceSession& session, const AnalysisOptions& options);
std::string counters_report(const TraceSession& session, const AnalysisOptions& options);
std::string compile_report(const TraceSession& session, const AnalysisOptions& options);
// Of a document with its facts.
std::string memory_report(const Document& document, const AnalysisOptions& options);

}  // namespace gapscope
