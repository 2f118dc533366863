#include "app/session/program_recorder.h"

namespace gapscope {

// A page is not asked whether to record.
struct ProgramRecorder::State {};

ProgramRecorder::ProgramRecorder(std::function<void()>) {
  view_.trouble = "A page in a browser sees no programs. Record where they run: gapscope attach, or gapscope's own window.";
}
ProgramRecorder::~ProgramRecorder() = default;
void ProgramRecorder::listen(bool on) { listens_ = on; }
void ProgramRecorder::record(RecordPrograms) {}
void ProgramRecorder::record_again() {}
void ProgramRecorder::cancel() {}
void ProgramRecorder::request_stop() {}
std::optional<ProgramRecorder::Outcome> ProgramRecorder::take() { return std::nullopt; }
const AttachView& ProgramRecorder::view() { return view_; }

}  // namespace gapscope
