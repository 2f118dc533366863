#pragma once
// What limits the plain program (core/replay/plain_program.h): the account of its replay, judged as verdict.h judges a
// recording's.
namespace gapscope {

class TraceSession;
struct Headline;

// Fills in `plain` and what is said of it, and makes the verdict that of the plain program;
// unless Stated::as_recorded and the recording is of a run that represents the program: not of a start, a compiler or a
// capture.
void judge_plain(const TraceSession& session, Headline& headline);

}  // namespace gapscope
