// The last state of the queue the stream has told, for every page that wants it.
import { createStore } from '../lib/store';
import type { QueueState } from './types';

export const queueState = createStore<QueueState | null>(null);
