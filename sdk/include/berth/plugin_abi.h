/* The binary interface between berth and plugins in shared objects.
 *
 * Plain C: no type of any C++ library crosses it, so that a plugin may be built with another
 * compiler, another standard library or another language than berth. C++ plugins include
 * berth/plugin.hpp, which wraps this interface.
 *
 * A plugin library exports two functions:
 *
 *     uint32_t berth_plugin_abi_version(void);                   returns BERTH_PLUGIN_ABI_VERSION
 *     const struct berth_plugin* berth_plugin_at(size_t index);  null after the last
 *
 * Rules for all of it:
 *   - Strings are UTF-8, counted, not terminated. Strings from berth are valid during the
 *     call. Strings from the plugin are copied at once.
 *   - Nothing is thrown or jumped across the boundary, in either direction.
 *   - Structs begin with their size. Fields are only added at the end; a reader checks
 *     `size` before it reads an added field. Other changes increase the version.
 *   - Threads: `filter` and `score` of one instance may be called from several threads at once, for
 *     different nodes. Everything else is called from one thread, never during those.
 */
#ifndef BERTH_PLUGIN_ABI_H_
#define BERTH_PLUGIN_ABI_H_

#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

#define BERTH_PLUGIN_ABI_VERSION 1u

struct berth_string {
  const char* data; /* may be null when size is 0 */
  size_t size;
};

/* What a plugin returns. Any other value counts as BERTH_ERROR. */
enum berth_code {
  BERTH_SUCCESS = 0,
  BERTH_ERROR = 1,         /* an error: the pod is retried after a backoff */
  BERTH_UNSCHEDULABLE = 2, /* not now; removing pods may help */
  BERTH_UNRESOLVABLE = 3,  /* not now; removing pods cannot help */
  BERTH_WAIT = 4,          /* permit only */
  BERTH_SKIP = 5,          /* pre_filter, pre_score: filter, score is not called for this pod;
                            * bind: the next bind plugin is called */
  BERTH_PENDING = 6        /* filter, reserve and permit: waiting for an external condition */
};

/* The extension points a plugin serves; bits combine. */
enum berth_point {
  BERTH_PRE_FILTER = 1 << 0,
  BERTH_FILTER = 1 << 1,
  BERTH_SCORE = 1 << 2,
  BERTH_RESERVE = 1 << 3,
  BERTH_PERMIT = 1 << 4,
  BERTH_PRE_BIND = 1 << 5,
  BERTH_POST_BIND = 1 << 6,
  BERTH_PRE_ENQUEUE = 1 << 7,
  BERTH_QUEUE_SORT = 1 << 8,
  BERTH_PRE_SCORE = 1 << 9,
  BERTH_POST_FILTER = 1 << 10,
  BERTH_BIND = 1 << 11
};

/* Events that may make a rejected pod schedulable. */
enum berth_resource {
  BERTH_EVENT_POD = 0,
  BERTH_EVENT_NODE = 1,
  BERTH_EVENT_PERSISTENT_VOLUME = 2,
  BERTH_EVENT_PERSISTENT_VOLUME_CLAIM = 3,
  BERTH_EVENT_STORAGE_CLASS = 4,
  BERTH_EVENT_CSI_NODE = 5,
  BERTH_EVENT_RESOURCE_CLAIM = 6
};
enum berth_action {
  BERTH_ON_ADD = 1 << 0,
  BERTH_ON_DELETE = 1 << 1,
  BERTH_ON_NODE_ALLOCATABLE = 1 << 2,
  BERTH_ON_NODE_LABEL = 1 << 3,
  BERTH_ON_NODE_TAINT = 1 << 4,
  BERTH_ON_NODE_CONDITION = 1 << 5,
  BERTH_ON_NODE_ANNOTATION = 1 << 6,
  BERTH_ON_POD_LABEL = 1 << 7,
  BERTH_ON_POD_SCALE_DOWN = 1 << 8,
  BERTH_ON_POD_TOLERATION = 1 << 9,
  BERTH_ON_UPDATE = 0xffc, /* any change */
  BERTH_ON_ALL = 0xfff
};
struct berth_event {
  uint32_t resource; /* enum berth_resource */
  uint32_t actions;  /* enum berth_action */
};

struct berth_pod;      /* a pod that is being scheduled, or is on a node */
struct berth_node;     /* a node */
struct berth_answer;   /* receives the reason of a result */
struct berth_instance; /* one plugin in one profile, as berth knows it */
struct berth_proposal; /* a preemption that a plugin may propose */
struct berth_change;   /* what an event was about */

typedef void (*berth_take_text)(void* to, struct berth_string text);
/* Returns 0 to stop. */
typedef int (*berth_take_pod)(void* to, const struct berth_pod* pod);

/* What berth offers. Valid for the life of the process. Functions that return int return 1 for
 * found, 0 for not found. Amounts: cpu in millicores, everything else in units (bytes). */
struct berth_host {
  uint32_t size;
  uint32_t abi_version;

  struct berth_string (*pod_namespace)(const struct berth_pod*);
  struct berth_string (*pod_name)(const struct berth_pod*);
  struct berth_string (*pod_uid)(const struct berth_pod*);
  int32_t (*pod_priority)(const struct berth_pod*);
  int (*pod_label)(const struct berth_pod*, struct berth_string key, struct berth_string* value);
  size_t (*pod_label_count)(const struct berth_pod*);
  int (*pod_label_at)(const struct berth_pod*, size_t index, struct berth_string* key,
                      struct berth_string* value);
  int64_t (*pod_request)(const struct berth_pod*, struct berth_string resource);
  /* Everything scheduling reads from the pod, as JSON of v1.Pod. Slow. */
  void (*pod_json)(const struct berth_pod*, berth_take_text take, void* to);

  struct berth_string (*node_name)(const struct berth_node*);
  int (*node_label)(const struct berth_node*, struct berth_string key, struct berth_string* value);
  size_t (*node_label_count)(const struct berth_node*);
  int (*node_label_at)(const struct berth_node*, size_t index, struct berth_string* key,
                       struct berth_string* value);
  int64_t (*node_allocatable)(const struct berth_node*, struct berth_string resource);
  int64_t (*node_requested)(const struct berth_node*, struct berth_string resource);
  int64_t (*node_pod_count)(const struct berth_node*);
  int (*node_unschedulable)(const struct berth_node*);
  size_t (*node_taint_count)(const struct berth_node*);
  int (*node_taint_at)(const struct berth_node*, size_t index, struct berth_string* key,
                       struct berth_string* value, struct berth_string* effect);
  void (*node_each_pod)(const struct berth_node*, berth_take_pod take, void* to);

  /* The reason of a result, shown to users. The last one counts. */
  void (*set_reason)(struct berth_answer*, struct berth_string reason);
  /* A line in berth's log. */
  void (*log)(struct berth_instance*, struct berth_string message);
  /* Decides about a pod for which `permit` returned BERTH_WAIT. Carried out soon after the call of
   * the plugin that is under way; ignored when the pod does not wait any more. */
  void (*allow_waiting)(struct berth_instance*, struct berth_string pod_uid);
  void (*reject_waiting)(struct berth_instance*, struct berth_string pod_uid,
                         struct berth_string message);

  /* --- Added later: a berth whose `size` ends here has none of them. */

  /* Annotations of the keys that the plugin names in its description, and of no others. */
  int (*pod_annotation)(const struct berth_pod*, struct berth_string key,
                        struct berth_string* value);
  int (*node_annotation)(const struct berth_node*, struct berth_string key,
                         struct berth_string* value);
  /* The measured load of a node in percent: type "CPU" or "Memory", operation "AVG", "STD" or
   * "Latest". Of several sources, the first by name that has it. Load is measured while a plugin
   * of the configuration that scores by it names a source. `window_end`: seconds since 1970. */
  int (*node_load)(const struct berth_node*, struct berth_string type,
                   struct berth_string operation, double* percent, int64_t* window_end);

  /* During post_filter: the nodes that were filtered and rejected, and with which code. Null, or
   * BERTH_ERROR: there are not so many. */
  const struct berth_node* (*rejected_node)(const struct berth_proposal*, size_t index);
  int32_t (*rejected_code)(const struct berth_proposal*, size_t index);
  /* 1: the pod passes the filters of all plugins on the node when these pods, which must be there,
   * are gone. Calls `filter` of this plugin too. */
  int (*fits_without)(struct berth_proposal*, const struct berth_node*,
                      const struct berth_string* pod_uids, size_t count);
  /* Proposes to delete these pods of the node and to nominate the pod to it. 0, and nothing is
   * proposed, unless fits_without is 1. The last proposal counts, if post_filter succeeds. */
  int (*propose)(struct berth_proposal*, const struct berth_node*,
                 const struct berth_string* pod_uids, size_t count);

  /* During hint: the resource (enum berth_resource) and what happened to it (enum berth_action). */
  uint32_t (*change_resource)(const struct berth_change*);
  uint32_t (*change_actions)(const struct berth_change*);
  /* The pod as it is now, or as it was when it has gone. Null: the event is about something else.
   */
  const struct berth_pod* (*change_pod)(const struct berth_change*);
  /* The node as it is now. Null: the event is about something else, or the node has gone. */
  const struct berth_node* (*change_node)(const struct berth_change*);
};

struct berth_node_score {
  struct berth_string node;
  int64_t score;
};

/* The description of one plugin of a library. Valid for the life of the process. `self` is what
 * `create` returned. Functions of points that are not in `points` may be null. */
struct berth_plugin {
  uint32_t size;
  uint32_t points;          /* enum berth_point */
  struct berth_string name; /* as in configuration */

  /* One instance per profile that enables the plugin. `args` is the JSON of pluginConfig, empty
   * when there is none. Null: it failed, and the answer has the reason. */
  void* (*create)(const struct berth_host* host, struct berth_instance* instance,
                  struct berth_string args, struct berth_answer* answer);
  void (*destroy)(void* self);
  /* The events that may help a pod that this plugin rejected. Null: any. Returns their number. */
  size_t (*events)(void* self, const struct berth_event** events);

  int32_t (*pre_filter)(void* self, const struct berth_pod*, struct berth_answer*);
  int32_t (*filter)(void* self, const struct berth_pod*, const struct berth_node*,
                    struct berth_answer*);
  int32_t (*score)(void* self, const struct berth_pod*, const struct berth_node*, int64_t* score,
                   struct berth_answer*);
  /* May be null: scores are 0..100 then. All nodes that passed, in no particular order. */
  int32_t (*normalize)(void* self, const struct berth_pod*, struct berth_node_score* scores,
                       size_t count, struct berth_answer*);
  int32_t (*reserve)(void* self, const struct berth_pod*, const struct berth_node*,
                     struct berth_answer*);
  /* Also called when `reserve` of this or another plugin failed, possibly without a reservation. */
  void (*unreserve)(void* self, const struct berth_pod*, const struct berth_node*);
  /* With BERTH_WAIT: for at most `timeout_ns`, 15 minutes at most. */
  int32_t (*permit)(void* self, const struct berth_pod*, const struct berth_node*,
                    int64_t* timeout_ns, struct berth_answer*);
  int32_t (*pre_bind)(void* self, const struct berth_pod*, const struct berth_node*,
                      struct berth_answer*);
  void (*post_bind)(void* self, const struct berth_pod*, const struct berth_node*);

  /* --- Added later: a library whose `size` ends here has none of them. */

  /* Other codes than success keep the pod out of the queue until an event. */
  int32_t (*pre_enqueue)(void* self, const struct berth_pod*, struct berth_answer*);
  /* 1: `a` goes before `b`. A strict order that does not change while pods wait. Times are in
   * nanoseconds since 1970: when the pod entered the queue. */
  int32_t (*less)(void* self, const struct berth_pod* a, int64_t a_queued,
                  const struct berth_pod* b, int64_t b_queued);
  /* Once per attempt, before `score`: the names of the nodes that passed. */
  int32_t (*pre_score)(void* self, const struct berth_pod*, const struct berth_string* nodes,
                       size_t count, struct berth_answer*);

  /* --- Added after that. */

  /* Keys of annotations that the plugin reads, of pods and of nodes. */
  const struct berth_string* pod_annotations;
  size_t pod_annotation_count;
  const struct berth_string* node_annotations;
  size_t node_annotation_count;
  /* No node passed. Success: `propose` was called, and the pod will fit once those pods are gone.
   * BERTH_UNSCHEDULABLE: the next plugin is called; BERTH_UNRESOLVABLE: none is. */
  int32_t (*post_filter)(void* self, const struct berth_pod*, struct berth_proposal*,
                         struct berth_answer*);
  /* Success: berth writes the binding. BERTH_SKIP: the next bind plugin is called. BERTH_ERROR: the
   * pod is not bound, and is retried. */
  int32_t (*bind)(void* self, const struct berth_pod*, const struct berth_node*,
                  struct berth_answer*);
  /* May the event help a pod that this plugin has rejected? 0: no. Null: yes. Called for events
   * that `events` names. */
  int32_t (*hint)(void* self, const struct berth_pod*, const struct berth_change*);
};

#define BERTH_PLUGIN_EXPORT __attribute__((visibility("default")))

BERTH_PLUGIN_EXPORT uint32_t berth_plugin_abi_version(void);
BERTH_PLUGIN_EXPORT const struct berth_plugin* berth_plugin_at(size_t index);

#ifdef __cplusplus
}
#endif

#endif /* BERTH_PLUGIN_ABI_H_ */
