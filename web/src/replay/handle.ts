// The handle that tests hold; nothing in the page uses it.
import type { Replay } from "./replay";

export interface Handle {
  /** Resolved when a picture with pauses and trees is painted. */
  ready: Promise<void>;
  /** When the first picture was painted, in milliseconds since the navigation. */
  readonly firstPicture: number;
  /** The instant shown, in simulated microseconds. */
  t: number;
  /** Selects a port by name. */
  select(port: string): void;
  /** Where the egress of a port is drawn in the n-th picture, in coordinates of the window. */
  portAt(port: string, picture?: number): { x: number; y: number } | null;
  /** Resolves when the next frame is painted, or could not be. */
  frame(): Promise<void>;
}

declare global {
  interface Window {
    xoff: Handle;
  }
}

/** Offers the handle at once, also while the replay is still `opening`. */
export function offerHandle(opening: Promise<Replay>): void {
  let replay: Replay | null = null;
  const handle: Handle = {
    ready: opening.then((opened) => {
      replay = opened;
    }),
    get firstPicture() {
      return replay?.firstPicture ?? NaN;
    },
    get t() {
      return replay?.clock.t ?? NaN;
    },
    set t(us: number) {
      replay?.seek(us);
    },
    select: (port) => replay?.selectPort(port),
    portAt: (port, picture = 0) => replay?.portAt(port, picture) ?? null,
    frame: () => replay?.frame() ?? Promise.resolve(),
  };
  // Whoever waits for it is told of a failure, and so is the reader of the page; nobody else needs to be.
  handle.ready.catch(() => {});
  window.xoff = handle;
}
