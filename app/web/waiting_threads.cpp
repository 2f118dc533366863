// The linker puts this in place of every call of pthread_create (app/web/web.cmake). A thread that can be cancelled is woken
// ten times a second by emscripten's libc to see whether it was, however long it waits; nobody cancels ours, and so they sleep.
#include <pthread.h>

#include <memory>

extern "C" {

int __real_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with);
int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with);

int __wrap_pthread_create(pthread_t* thread, const pthread_attr_t* how, void* (*run)(void*), void* with) {
  struct Start {
    void* (*run)(void*);
    void* with;
  };
  auto start = std::make_unique<Start>(Start{run, with});
  const auto begin = [](void* given) -> void* {
    const Start todo = *std::unique_ptr<Start>(static_cast<Start*>(given));
    pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, nullptr);
    return todo.run(todo.with);
  };
  const int trouble = __real_pthread_create(thread, how, begin, start.get());
  if (trouble == 0) start.release();
  return trouble;
}

}  // extern "C"
