// Log: see log.h.
#include "log/log.h"
