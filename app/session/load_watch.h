#pragma once
// How far a load is, as the window shows it.
#include "app/session/background_load.h"
#include "ui/app_ui.h"

namespace gapscope {

class LoadWatch {
 public:
  // Another load begins.
  void restart() { expected_seconds_ = 0; }
  // Valid until the next call.
  const LoadingView& of(const BackgroundLoad& load);

 private:
  double seconds_left(const BackgroundLoad& load);

  LoadingView view_;
  double expected_seconds_ = 0;  // of the whole load, as foreseen while it read; 0 when unknown
};

}  // namespace gapscope
