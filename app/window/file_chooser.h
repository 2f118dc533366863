#pragma once
// The desktop's own file chooser, where it has one: its portal's, else zenity or kdialog, run as a program of its own. It stays
// open for as long as a person looks for a file, on a thread that calls `wake` once it is closed.
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "app/jobs/latest_job.h"

namespace gapscope {

class FileChooser {
 public:
  struct Question {
    std::string folder;      // where it begins
    bool as_second = false;  // handed back with the answer; else several files may be chosen
    std::string save_as{};   // the name that is offered for a file to be written; empty: files are opened
    std::uint32_t turn = 0;  // set by ask(): a newer one closes it
  };
  struct Answer {
    std::vector<std::string> paths;  // none: closed without a choice
    bool as_second = false;
    bool saves = false;     // of a question with a name to save as; the dialog has asked about a file that is there
    bool was_shown = true;  // false: there is no dialog after all
  };

  explicit FileChooser(std::function<void()> wake);
  ~FileChooser();  // closes one that is open

  // The portal is looked for meanwhile.
  bool available() const { return run_->has_portal || !run_->program.empty(); }
  // It can be asked where to save, too. Only the portal's, which asks before it gives a file that is there.
  bool can_save() const { return run_->has_portal; }
  // One at a time: closes one that is open.
  void ask(Question question);
  std::optional<Answer> take() { return job_.take(); }

 private:
  // Shared with the job's thread, which may outlive the chooser for a moment.
  struct Run {
    std::string program;  // its whole path; empty where the desktop has none
    std::atomic<bool> has_portal{false};
    std::atomic<std::uint32_t> turn{0};
    std::atomic<int> process{0};
    std::atomic<bool> ends{false};

    Answer choose(const Question& question);
    std::vector<std::string> choose_by_program(const std::string& folder, bool several);
    void close();
  };

  std::shared_ptr<Run> run_;
  LatestJob<Question, Answer> job_;
  LatestJob<std::monostate, bool> look_for_portal_;
};

}  // namespace gapscope
