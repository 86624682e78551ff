/* For tests only: libraries that cannot be used. Which one is told by BROKEN. In C, so that the
 * interface is seen to be C. */
#include "berth/plugin_abi.h"

#define TEXT(text) \
  { text, sizeof text - 1 }

#if BROKEN == 1 /* another version */
uint32_t berth_plugin_abi_version(void) { return 4711; }
#elif BROKEN != 2 /* 2: exports nothing */
uint32_t berth_plugin_abi_version(void) { return BERTH_PLUGIN_ABI_VERSION; }
#endif

#if BROKEN != 2
static int here;
static void* Create(const struct berth_host* host, struct berth_instance* instance,
                    struct berth_string args, struct berth_answer* answer) {
  (void)host, (void)instance, (void)args, (void)answer;
  return &here;
}

#if BROKEN == 6
static int32_t Permit(void* self, const struct berth_pod* pod, const struct berth_node* node,
                      int64_t* timeout_ns, struct berth_answer* answer) {
  (void)self, (void)pod, (void)node, (void)timeout_ns, (void)answer;
  return BERTH_SUCCESS;
}
#endif

static const struct berth_plugin kPlugin = {
#if BROKEN == 3 /* from before there was anything */
    .size = 16,
#else
    .size = sizeof(struct berth_plugin),
#endif
#if BROKEN == 4 /* a point without its function */
    .points = BERTH_FILTER,
#elif BROKEN == 5 /* a point that does not exist */
    .points = 1u << 31,
#elif BROKEN == 6
    .points = BERTH_PERMIT,
    .permit = Permit,
#else
    .points = 0,
#endif
#if BROKEN == 6 /* the name of an in-tree plugin */
    .name = TEXT("NodeName"),
#else
    .name = TEXT("Broken"),
#endif
    .create = Create,
};

const struct berth_plugin* berth_plugin_at(size_t index) {
  const size_t count = BROKEN == 7 ? 0 : 1; /* 7: empty */
  return index < count ? &kPlugin : 0;
}
#endif
