#pragma once
// `gapscope serve [FOLDER] [--port N] [--bind ADDRESS]`: the recordings below a folder in a browser.
#include <string>

namespace gapscope {

struct ServeOptions {
  std::string executable;
  std::string folder = ".";
  std::string bind = "127.0.0.1";
  int port = 8080;
};

// Serves until SIGINT, SIGTERM or SIGHUP, which is how it ends well. The exit code.
int serve(const ServeOptions& options);

}  // namespace gapscope
