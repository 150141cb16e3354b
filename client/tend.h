// What a kept program says to its keeper: that it lives, what it does, that it heard a question.
//
// A program started with `tend run -- CMD` finds its keeper by its environment: TEND_INFRA (the
// folder of the agent), TEND_LIFE (the number of this life), TEND_AGENT (its name). Every function
// may be called from any thread, none blocks on the keeper, and none needs it to run at this
// moment.
//
// Functions that return an int give -1 on failure, with errno set and the reason in tend_why().
#ifndef TEND_H
#define TEND_H

#ifdef __cplusplus
extern "C" {
#endif

#if defined(__GNUC__) && !defined(TEND_API)
#define TEND_API __attribute__((visibility("default")))
#elif !defined(TEND_API)
#define TEND_API
#endif

typedef struct tend_client tend_client;

enum tend_state_word { TEND_WORKING, TEND_IDLE, TEND_EXITING, TEND_STUCK };

// The longest `until_seconds` of tend_state(), the longest id of tend_ack() and the longest signal
// of tend_signal() in bytes.
#define TEND_LONGEST_UNTIL 3153600000 /* a hundred years */
#define TEND_LONGEST_ID 256
#define TEND_LONGEST_SIGNAL 2048

// Opens the folder that the environment names. NULL on failure; errno is ESRCH outside an agent
// (TEND_INFRA is not set), EPERM if the folder is not this user's alone.
TEND_API tend_client* tend_open(void);

// The same for a folder (an absolute path) and a life that were learned otherwise.
TEND_API tend_client* tend_open_at(const char* folder, unsigned life);

// NULL is allowed.
TEND_API void tend_close(tend_client* client);

// Says: I live. One system call; once a second it also looks whether this life is still the one
// that runs, and fails with ESTALE if not.
TEND_API int tend_beat(tend_client* client);

// Says what the program does, and for how long it expects to (0: not said). "Idle until" is how a
// program that means to wait is not taken for one that hangs. ESTALE if this life is over, ENOSPC
// if there is no room for more.
TEND_API int tend_state(tend_client* client, enum tend_state_word state, long until_seconds);

// Answers the keeper's question `id`; NULL answers all that are open. Fails like tend_state(), and
// with EINVAL if the id is not printable ASCII; ESTALE if another question is open: a late answer
// is refused.
TEND_API int tend_ack(tend_client* client, const char* id);

// Says anything else that an agent may say of itself: one signal in the words of docs/evidence.md,
// a JSON object such as {"is":"progress"}; the life is added to it. Fails like tend_state(), and
// with EINVAL if it is no object on one line with an "is" in it.
TEND_API int tend_signal(tend_client* client, const char* signal);

// Whether the parent agent's process lives: 1 yes, 0 no, -1 unknown (errno ENOENT: there is no
// parent). Between two lives of the parent the answer is no.
TEND_API int tend_parent(tend_client* client);

// Whether this life is the one that runs: 1 yes; 0 no, and tend_why() says what came after it; -1
// unknown.
TEND_API int tend_check_life(tend_client* client);

// Whether the beats and states of this agent are also wanted in stores of other systems: 1 yes, 0
// no. `tend beat` and `tend state` write those; this library speaks to the keeper alone.
TEND_API int tend_has_sinks(const tend_client* client);

TEND_API const char* tend_agent(const tend_client* client);
TEND_API unsigned tend_life(const tend_client* client);

// What went wrong last in this thread, one line in words, "" if nothing did. `client` may be NULL,
// as it is after a failed tend_open(). Valid until the next failure in this thread.
TEND_API const char* tend_why(const tend_client* client);

#ifdef __cplusplus
}
#endif

#endif
