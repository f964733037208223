// The views, in the order of their tabs.

import { write } from "./write.js";
import type { View } from "./view.js";

export const VIEWS: readonly View[] = [write];
