// The client library in one file, so that a program may also just compile it in.
//
// Of the agent's folder it uses `.beat` (its time of change is the last beat), `signals.jsonl`
// (lines are appended), `.lock` (opens with one JSON object, padded with blanks, whose "life" is
// the life that runs) and `.heartbeat` (one JSON object). A file that is no plain file of this
// user, or that others may write, is refused: it was not made by a keeper of ours.
//
// Nothing is locked. The only descriptor that changes during a client's life is that of `.beat`,
// and its number stays the same (dup3), so no thread can hold a number that means another file.
#ifndef _GNU_SOURCE
#define _GNU_SOURCE  // dup3
#endif
#include "tend.h"

#include <errno.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

enum {
  LONGEST_PATH = 4096,
  LONGEST_AGENT = 128,
  LOCK_RECORD = 1024,
  LARGEST_HEARTBEAT = 16 * 1024,  // it is read onto the stack
  LARGEST_SIGNALS = 64 * 1024 * 1024,
};

struct tend_client {
  int folder;
  int beat;         // -1: not opened yet
  unsigned looked;  // the second of the last look at files and life, plus one; 0: never
  unsigned life;
  char agent[LONGEST_AGENT];
};

// --- Failures -----------------------------------------------------------------------------------

static __thread char why[512];

static void on_one_line(char* text) {
  for (; *text != 0; ++text) {
    if ((unsigned char)*text < ' ' || *text == 127) *text = '?';  // it must not move the cursor
  }
}

// Sets errno and the words; -1, so that a caller can return it.
__attribute__((format(printf, 2, 3))) static int fail(int error, const char* format, ...) {
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(why, sizeof why, format, arguments);
  va_end(arguments);
  on_one_line(why);
  errno = error;
  return -1;
}

static void close_quietly(int descriptor) {
  const int saved = errno;
  if (descriptor >= 0) close(descriptor);
  errno = saved;
}

// --- Files --------------------------------------------------------------------------------------

// 0 if only this user can have made and changed it.
static int check_ours(int descriptor, const char* name, mode_t kind, struct stat* facts) {
  if (fstat(descriptor, facts) != 0) {
    return fail(errno, "cannot look at %s: %s", name, strerror(errno));
  }
  if ((facts->st_mode & S_IFMT) != kind) {
    return fail(EPERM, "%s is no plain %s", name, kind == S_IFDIR ? "folder" : "file");
  }
  if (facts->st_uid != geteuid()) {
    return fail(EPERM, "%s belongs to another user (uid %ld)", name, (long)facts->st_uid);
  }
  if ((facts->st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return fail(EPERM, "%s may be written by others (mode %03o)", name,
                (unsigned)facts->st_mode & 0777U);
  }
  return 0;
}

// Opens a file of ours; `folder` may be AT_FDCWD for an absolute path.
static int open_ours(int folder, const char* name, int flags, struct stat* facts) {
  // O_NONBLOCK: a fifo in its place must not hold us.
  flags |= O_NOFOLLOW | O_CLOEXEC | O_NOCTTY | O_NONBLOCK;
  const int descriptor = openat(folder, name, flags, 0600);
  if (descriptor < 0) {
    if (errno == ELOOP) return fail(ELOOP, "%s is a link, and links are not followed", name);
    return fail(errno, "cannot open %s: %s", name, strerror(errno));
  }
  if (check_ours(descriptor, name, S_IFREG, facts) == 0) return descriptor;
  close_quietly(descriptor);
  return -1;
}

// Reads at most `size` bytes from the start; their number, or -1.
static ssize_t read_start(int descriptor, char* into, size_t size) {
  size_t got = 0;
  while (got < size) {
    const ssize_t more = pread(descriptor, into + got, size - got, (off_t)got);
    if (more == 0) break;
    if (more > 0) {
      got += (size_t)more;
    } else if (errno != EINTR) {
      return -1;
    }
  }
  return (ssize_t)got;
}

static ssize_t read_ours(int folder, const char* name, char* into, size_t size) {
  struct stat facts;
  const int descriptor = open_ours(folder, name, O_RDONLY, &facts);
  if (descriptor < 0) return -1;
  const ssize_t got = read_start(descriptor, into, size);
  if (got < 0) fail(errno, "cannot read %s: %s", name, strerror(errno));
  close_quietly(descriptor);
  return got;
}

// --- JSON: the members of one object ------------------------------------------------------------

struct text {
  const char* at;
  const char* end;
};

static void skip_blanks(struct text* rest) {
  for (; rest->at < rest->end; ++rest->at) {
    const char c = *rest->at;
    if (c != ' ' && c != '\t' && c != '\r' && c != '\n') return;
  }
}

static int take(struct text* rest, char c) {
  skip_blanks(rest);
  if (rest->at == rest->end || *rest->at != c) return 0;
  ++rest->at;
  return 1;
}

// Takes a string and gives what stands between its quotes, escapes as they are.
static int take_string(struct text* rest, struct text* inside) {
  if (!take(rest, '"')) return 0;
  inside->at = rest->at;
  while (rest->at < rest->end && *rest->at != '"') {
    rest->at += *rest->at == '\\' && rest->end - rest->at > 1 ? 2 : 1;
  }
  inside->end = rest->at;
  return take(rest, '"');
}

// Passes over any value: strings whole, brackets counted, all else up to the next separator.
static int take_value(struct text* rest, struct text* value) {
  struct text inside;
  int depth = 0;
  skip_blanks(rest);
  value->at = rest->at;
  while (rest->at < rest->end) {
    const char c = *rest->at;
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) break;
    if (c == '"') {
      if (!take_string(rest, &inside)) return 0;
      continue;
    }
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++rest->at;
  }
  value->end = rest->at;
  return depth == 0 && value->at < value->end;
}

// Finds the value of `key` in the object that `text` begins with. 1 found, 0 not there, -1 no whole
// object.
static int find(struct text text, const char* key, struct text* found) {
  struct text name;
  struct text value;
  int result = 0;
  if (!take(&text, '{')) return -1;
  if (take(&text, '}')) return 0;
  do {
    if (!take_string(&text, &name) || !take(&text, ':') || !take_value(&text, &value)) return -1;
    if ((size_t)(name.end - name.at) == strlen(key) && memcmp(name.at, key, strlen(key)) == 0) {
      *found = value;
      result = 1;
    }
  } while (take(&text, ','));
  return take(&text, '}') ? result : -1;
}

// 1 if all from `at` to `end` is one number without a sign.
static int read_number(const char* at, const char* end, unsigned long long* number) {
  unsigned long long value = 0;
  if (at == end) return 0;
  for (; at < end; ++at) {
    if (*at < '0' || *at > '9') return 0;
    const unsigned digit = (unsigned)(*at - '0');
    if (value > (~0ULL - digit) / 10) return 0;
    value = value * 10 + digit;
  }
  *number = value;
  return 1;
}

static int number_of(struct text object, const char* key, unsigned long long* number) {
  struct text value;
  if (find(object, key, &value) != 1) return 0;
  const char* end = value.at;
  while (end < value.end && *end >= '0' && *end <= '9') ++end;
  struct text rest = {end, value.end};
  skip_blanks(&rest);
  return rest.at == rest.end && read_number(value.at, end, number);
}

// Copies a string without escapes that fits, with a zero behind it.
static int string_of(struct text object, const char* key, char* into, size_t size) {
  struct text value;
  struct text inside;
  if (find(object, key, &value) != 1 || !take_string(&value, &inside)) return 0;
  const size_t length = (size_t)(inside.end - inside.at);
  if (length >= size || memchr(inside.at, '\\', length) != NULL) return 0;
  memcpy(into, inside.at, length);
  into[length] = 0;
  return 1;
}

// --- Opening ------------------------------------------------------------------------------------

static int open_folder(const char* path) {
  char name[LONGEST_PATH];
  size_t length = strlen(path);
  if (path[0] != '/') return fail(EINVAL, "the folder '%.200s' is no absolute path", path);
  if (length >= sizeof name) return fail(ENAMETOOLONG, "the path of the folder is too long");
  while (length > 1 && path[length - 1] == '/') --length;  // a slash behind it would follow a link
  memcpy(name, path, length);
  name[length] = 0;
  const int folder = open(name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
  if (folder < 0) {
    if (errno == ENOTDIR) return fail(ENOTDIR, "%.200s is no folder, or a link to one", name);
    return fail(errno, "cannot open %.200s: %s", name, strerror(errno));
  }
  struct stat facts;
  if (check_ours(folder, name, S_IFDIR, &facts) == 0) return folder;
  close_quietly(folder);
  return -1;
}

// The name of the agent: as told, else as its heartbeat says, else the last part of its path.
static void name_agent(tend_client* client, const char* told, const char* path) {
  char text[LARGEST_HEARTBEAT];
  char* name = client->agent;
  if (told != NULL && told[0] != 0) {
    snprintf(name, LONGEST_AGENT, "%s", told);
  } else {
    const ssize_t got = read_ours(client->folder, ".heartbeat", text, sizeof text);
    const struct text object = {text, text + (got < 0 ? 0 : got)};
    const char* slash = strrchr(path, '/');
    if (!string_of(object, "agent", name, LONGEST_AGENT) || name[0] == 0) {
      snprintf(name, LONGEST_AGENT, "%s", slash == NULL ? path : slash + 1);
    }
  }
  on_one_line(name);
}

static tend_client* open_client(const char* path, unsigned life, const char* agent) {
  const int folder = open_folder(path);
  if (folder < 0) return NULL;
  tend_client* client = malloc(sizeof *client);
  if (client == NULL) {
    close_quietly(folder);
    fail(ENOMEM, "no memory for a client");
    return NULL;
  }
  client->folder = folder;
  client->beat = -1;
  client->looked = 0;
  client->life = life;
  name_agent(client, agent, path);
  why[0] = 0;
  return client;
}

tend_client* tend_open(void) {
  const char* folder = getenv("TEND_INFRA");
  const char* life = getenv("TEND_LIFE");
  if (folder == NULL || folder[0] == 0) {
    fail(ESRCH,
         "not inside a kept agent: TEND_INFRA is not set (start the program with `tend run -- "
         "CMD`)");
    return NULL;
  }
  unsigned long long number = 0;
  const char* end = life == NULL ? NULL : life + strlen(life);
  if (life == NULL || !read_number(life, end, &number) || number == 0 || number > ~0U) {
    fail(EINVAL, "TEND_INFRA is set, but TEND_LIFE is not the number of a life");
    return NULL;
  }
  return open_client(folder, (unsigned)number, getenv("TEND_AGENT"));
}

tend_client* tend_open_at(const char* folder, unsigned life) {
  if (folder == NULL || life == 0) {
    fail(EINVAL, "a client needs a folder and the number of a life");
    return NULL;
  }
  return open_client(folder, life, NULL);
}

void tend_close(tend_client* client) {
  if (client == NULL) return;
  close_quietly(client->beat);
  close_quietly(client->folder);
  free(client);
}

int tend_has_sinks(const tend_client* client) {
  struct stat facts;
  return fstatat(client->folder, "sinks", &facts, AT_SYMLINK_NOFOLLOW) == 0;
}

const char* tend_agent(const tend_client* client) { return client->agent; }

unsigned tend_life(const tend_client* client) { return client->life; }

const char* tend_why(const tend_client* client) {
  (void)client;  // kept by the thread, so that threads that share a client do not mix their words
  return why;
}

// --- Lives --------------------------------------------------------------------------------------

// The life that `.lock` records. It is written in place, so a reader may see half of it: then it
// looks again.
static int read_life(const tend_client* client, unsigned long long* life) {
  char text[LOCK_RECORD];
  struct stat facts;
  const int lock = open_ours(client->folder, ".lock", O_RDONLY, &facts);
  if (lock < 0) return -1;
  int known = 0;
  for (int attempt = 0; attempt < 3 && !known; ++attempt) {
    const ssize_t got = read_start(lock, text, sizeof text);
    const struct text object = {text, text + (got < 0 ? 0 : got)};
    known = number_of(object, "life", life);
  }
  close_quietly(lock);
  return known ? 0 : fail(EBADMSG, ".lock holds no record of a life");
}

// 1 if the heartbeat says that this life was the last and is over; its status is then in `status`.
static int has_ended(const tend_client* client, char* status, size_t size) {
  char text[LARGEST_HEARTBEAT];
  unsigned long long life = client->life;
  const ssize_t got = read_ours(client->folder, ".heartbeat", text, sizeof text);
  const struct text object = {text, text + (got < 0 ? 0 : got)};
  if (!string_of(object, "status", status, size)) return 0;
  number_of(object, "life", &life);
  const int terminal = strcmp(status, "completed") == 0 || strcmp(status, "withdrawn") == 0;
  return terminal && life == client->life;
}

int tend_check_life(tend_client* client) {
  unsigned long long running = 0;
  char status[16];
  if (read_life(client, &running) != 0) return -1;
  if (running < client->life) {
    fail(ESTALE, "life %u of %s has not begun", client->life, client->agent);
    return 0;
  }
  if (running > client->life) {
    fail(ESTALE, "life %u of %s is over; life %llu runs now", client->life, client->agent, running);
    return 0;
  }
  if (has_ended(client, status, sizeof status)) {
    fail(ESTALE, "%s has ended: its status is %s", client->agent, status);
    return 0;
  }
  return 1;
}

// 0 unless this life is over, or the folder is not a keeper's. That the look itself failed (no
// descriptor left, a record half written) is no reason to be silent.
static int check_may_speak(tend_client* client) {
  const int current = tend_check_life(client);
  if (current == 1) return 0;
  const int refused = errno == ENOENT || errno == EPERM || errno == EACCES || errno == ELOOP;
  return current == 0 || refused ? -1 : 0;
}

// --- Beats --------------------------------------------------------------------------------------

static int is_beat_file(const tend_client* client, int held) {
  struct stat ours;
  struct stat named;
  return fstat(held, &ours) == 0 &&
         fstatat(client->folder, ".beat", &named, AT_SYMLINK_NOFOLLOW) == 0 &&
         ours.st_ino == named.st_ino && ours.st_dev == named.st_dev;
}

// Holds the file that is `.beat` now.
static int hold_beat_file(tend_client* client) {
  int held = __atomic_load_n(&client->beat, __ATOMIC_ACQUIRE);
  if (held >= 0 && is_beat_file(client, held)) return 0;
  struct stat facts;
  const int fresh = open_ours(client->folder, ".beat", O_RDONLY, &facts);
  if (fresh < 0) return -1;
  if (held < 0 && __atomic_compare_exchange_n(&client->beat, &held, fresh, 0, __ATOMIC_ACQ_REL,
                                              __ATOMIC_ACQUIRE)) {
    return 0;
  }
  // The number was given out: it stays, and from here on means the new file.
  const int result =
      dup3(fresh, held, O_CLOEXEC) < 0 ? fail(errno, "cannot hold .beat: %s", strerror(errno)) : 0;
  close_quietly(fresh);
  return result;
}

int tend_beat(tend_client* client) {
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC_COARSE, &now);  // no system call
  const unsigned second = (unsigned)now.tv_sec + 1;
  if (__atomic_load_n(&client->looked, __ATOMIC_ACQUIRE) != second) {
    if (check_may_speak(client) != 0 || hold_beat_file(client) != 0) return -1;
    __atomic_store_n(&client->looked, second, __ATOMIC_RELEASE);
  }
  if (futimens(__atomic_load_n(&client->beat, __ATOMIC_RELAXED), NULL) == 0) return 0;
  return fail(errno, "cannot touch .beat: %s", strerror(errno));
}

// --- Lines --------------------------------------------------------------------------------------

// One line of signals.jsonl in the making. It has room for everything that is added.
struct line {
  size_t size;
  char bytes[TEND_LONGEST_SIGNAL + 64];
};

static void add(struct line* line, const char* text) {
  const size_t size = strlen(text);
  memcpy(line->bytes + line->size, text, size);
  line->size += size;
}

// Appends the line with its life, in one write.
static int append(tend_client* client, struct line* line) {
  static const char name[] = "signals.jsonl";
  char end[32];
  char last = '\n';
  struct stat facts;
  snprintf(end, sizeof end, ",\"life\":%u}\n", client->life);
  add(line, end);
  if (check_may_speak(client) != 0) return -1;
  const int file = open_ours(client->folder, name, O_RDWR | O_APPEND | O_CREAT, &facts);
  if (file < 0) return -1;
  int result = 0;
  if (facts.st_size > LARGEST_SIGNALS) {
    result = fail(ENOSPC, "%s is full (64 MB): this life has said too much", name);
  } else {
    // Behind a line that was torn by a full disk ours would be lost with it: a newline goes first,
    // the one that bytes[0] is kept for.
    if (facts.st_size > 0 && pread(file, &last, 1, facts.st_size - 1) < 0) last = '\n';
    const char* from = line->bytes + (last == '\n' ? 1 : 0);
    const size_t size = line->size - (size_t)(from - line->bytes);
    const ssize_t written = write(file, from, size);
    if (written < 0) {
      result = fail(errno, "cannot write %s: %s", name, strerror(errno));
    } else if ((size_t)written < size) {
      result = fail(ENOSPC, "%s took only a part of the line: the disk is full", name);
    }
  }
  close_quietly(file);
  return result;
}

int tend_state(tend_client* client, enum tend_state_word state, long until_seconds) {
  static const char* const words[] = {"working", "idle", "exiting", "stuck"};
  struct line line = {0, ""};
  if ((int)state < 0 || state > TEND_STUCK) return fail(EINVAL, "no such state");
  if (until_seconds < 0 || (unsigned long long)until_seconds > TEND_LONGEST_UNTIL) {
    return fail(EINVAL, "a state lasts from 0 seconds to 100 years");
  }
  add(&line, "\n{\"is\":\"state\",\"state\":\"");
  add(&line, words[state]);
  add(&line, "\"");
  if (until_seconds > 0) {
    char until[64];
    struct timespec now;
    if (clock_gettime(CLOCK_BOOTTIME, &now) != 0) {
      return fail(errno, "cannot read the clock: %s", strerror(errno));
    }
    snprintf(until, sizeof until, ",\"until\":%lld.%03ld",
             (long long)now.tv_sec + (long long)until_seconds, now.tv_nsec / 1000000);
    add(&line, until);
  }
  return append(client, &line);
}

// An answer to another question is said all the same, and refused by the keeper: so that it knows.
static int check_question(const tend_client* client, const char* id) {
  char open[TEND_LONGEST_ID + 2];
  struct stat facts;
  if (fstatat(client->folder, ".question", &facts, AT_SYMLINK_NOFOLLOW) != 0) return 0;
  const ssize_t size = read_ours(client->folder, ".question", open, sizeof open - 1);
  if (size <= 0) return 0;
  open[size] = 0;
  open[strcspn(open, "\n")] = 0;
  if (strcmp(open, id) == 0) return 0;
  return fail(ESTALE, "question %s is not open, question %s is", id, open);
}

int tend_ack(tend_client* client, const char* id) {
  struct line line = {0, ""};
  add(&line, "\n{\"is\":\"ack\"");
  if (id != NULL) {
    const size_t size = strlen(id);
    if (size == 0 || size > TEND_LONGEST_ID) {
      return fail(EINVAL, "an id has from 1 to %d bytes", TEND_LONGEST_ID);
    }
    add(&line, ",\"id\":\"");
    for (const char* c = id; *c != 0; ++c) {
      if (*c < ' ' || *c > '~') return fail(EINVAL, "an id is printable ASCII");
      if (*c == '"' || *c == '\\') line.bytes[line.size++] = '\\';
      line.bytes[line.size++] = *c;
    }
    add(&line, "\"");
  }
  if (append(client, &line) != 0) return -1;
  return id == NULL ? 0 : check_question(client, id);
}

int tend_signal(tend_client* client, const char* signal) {
  struct line line = {0, ""};
  const size_t size = strlen(signal);
  const struct text object = {signal, signal + size};
  struct text kind;
  if (size > TEND_LONGEST_SIGNAL) {
    return fail(EINVAL, "a signal has at most %d bytes", TEND_LONGEST_SIGNAL);
  }
  for (const char* c = signal; *c != 0; ++c) {
    if ((unsigned char)*c < ' ') return fail(EINVAL, "a signal stands on one line");
  }
  if (size == 0 || signal[size - 1] != '}' || find(object, "is", &kind) != 1) {
    return fail(EINVAL, "a signal is one JSON object with an \"is\" in it");
  }
  add(&line, "\n");
  add(&line, signal);
  --line.size;  // append() closes it
  return append(client, &line);
}

// --- The parent ---------------------------------------------------------------------------------

// Reads a file of /proc whole, with a zero behind it; its size, or -1.
static ssize_t read_proc(const char* path, char* into, size_t size) {
  const int file = open(path, O_RDONLY | O_CLOEXEC);
  if (file < 0) return -1;
  const ssize_t got = read_start(file, into, size - 1);
  close_quietly(file);
  if (got >= 0) into[got] = 0;
  return got;
}

// What the kernel says of a pid: its state, and when it was started, in ticks since boot. 1 known,
// 0 there is none, -1 unknown.
static int ask_kernel(unsigned long long pid, char* state, unsigned long long* start_ticks) {
  char path[64];
  char text[1024];
  snprintf(path, sizeof path, "/proc/%llu/stat", pid);
  if (read_proc(path, text, sizeof text) < 0) {
    if (errno == ENOENT || errno == ESRCH) return 0;
    return fail(errno, "cannot read %s: %s", path, strerror(errno));
  }
  // "PID (NAME) S ...": a name may have anything in it, so the last bracket counts.
  const char* at = strrchr(text, ')');
  if (at == NULL || sscanf(at + 1,
                           " %c %*d %*d %*d %*d %*d %*u %*u %*u %*u %*u %*u %*u %*d %*d %*d %*d "
                           "%*d %*d %llu",
                           state, start_ticks) != 2) {
    return fail(EBADMSG, "cannot understand %s", path);
  }
  return 1;
}

// The same answers as tend_parent().
static int is_alive(struct text heartbeat) {
  char theirs[64];
  char ours[64];
  char state = 0;
  struct stat space;
  unsigned long long pid = 0;
  unsigned long long pid_ns = 0;
  unsigned long long recorded = 0;
  unsigned long long started = 0;
  if (!number_of(heartbeat, "pid", &pid) || pid == 0) {
    return fail(ENODATA, "the parent's heartbeat names no process");
  }
  if (read_proc("/proc/sys/kernel/random/boot_id", ours, sizeof ours) < 0) {
    return fail(errno, "cannot read the boot id: %s", strerror(errno));
  }
  ours[strcspn(ours, "\n")] = 0;
  // 0 and "" stand for what its writer did not know.
  if (string_of(heartbeat, "boot_id", theirs, sizeof theirs) && theirs[0] != 0 &&
      strcmp(ours, theirs) != 0) {
    return 0;
  }
  if (number_of(heartbeat, "pid_ns", &pid_ns) && pid_ns != 0 &&
      (stat("/proc/self/ns/pid", &space) != 0 || space.st_ino != pid_ns)) {
    return fail(EXDEV, "the parent is in another pid namespace");
  }
  const int known = ask_kernel(pid, &state, &started);
  if (known <= 0) return known;
  if (state == 'Z' || state == 'X') return 0;
  if (!number_of(heartbeat, "start_ticks", &recorded) || recorded == 0) {
    return fail(ENODATA, "cannot tell whether pid %llu is still the parent", pid);
  }
  return recorded == started;
}

int tend_parent(tend_client* client) {
  char text[LARGEST_HEARTBEAT];
  char path[LONGEST_PATH];
  ssize_t got = read_ours(client->folder, ".heartbeat", text, sizeof text);
  if (got < 0) return errno == ENOENT ? fail(ENODATA, "there is no .heartbeat") : -1;
  const struct text own = {text, text + got};
  struct text value;
  const int found = find(own, "parent_heartbeat", &value);
  if (found < 0) return fail(EBADMSG, "cannot understand .heartbeat");
  if (found > 0 && !string_of(own, "parent_heartbeat", path, sizeof path)) {
    return fail(EBADMSG, "cannot understand parent_heartbeat");
  }
  if (found == 0 || path[0] == 0) return fail(ENOENT, "%s has no parent", client->agent);
  if (path[0] != '/') return fail(EINVAL, "parent_heartbeat is no absolute path");
  got = read_ours(AT_FDCWD, path, text, sizeof text);
  if (got < 0) return errno == ENOENT ? fail(ENODATA, "the parent's heartbeat is missing") : -1;
  const struct text parent = {text, text + got};
  return is_alive(parent);
}
