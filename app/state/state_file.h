#pragma once
// What the window shows, written as JSON for end-to-end tests after every frame that changed it. Only with
// GAPSCOPE_STATE_FILE in the environment; no one else pays for it.
#include <string>

#include "app/session/session.h"
#include "ui/app_ui.h"

namespace gapscope {

// `at_rest`: WindowLoop::at_rest().
std::string state_json(const Session& session, const AppUi& ui, bool at_rest);

class StateFile {
 public:
  // An empty path writes nothing.
  explicit StateFile(std::string path) : path_(std::move(path)) {}
  // Replaces the file whole when the state is another one than last time.
  void write(const Session& session, const AppUi& ui, bool at_rest);

 private:
  std::string path_;
  std::string last_;
};

}  // namespace gapscope
