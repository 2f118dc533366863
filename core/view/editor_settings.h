#pragma once
// How a person opens a source file, and below which folders (those after the =) such files are read: held in the settings,
// chosen on the page "Editor and sources".
#include <string>
#include <vector>

namespace gapscope {

struct EditorSettings {
  std::string command;             // "code -g", "pycharm --line {line} {file}", "$EDITOR"; empty: code -g
  std::vector<std::string> paths;  // "/workspace/src=/home/me/src": what a recorded path begins with, and where that is here
  bool asks = true;                // a person is there who could allow more of them
  friend bool operator==(const EditorSettings&, const EditorSettings&) = default;
};

}  // namespace gapscope
