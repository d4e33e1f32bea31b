// Keeps the fragment of the page's address in step with what is looked at.
import { readState, writeState, type ViewState } from "./state";

/** Browsers refuse addresses that change much more often than this (ms). */
const PERIOD = 500;

export class Address {
  private timer = 0;

  /** `current` is null while the address must stay as it is; `followed`: another address was entered. */
  constructor(
    private readonly current: () => ViewState | null,
    followed: (state: ViewState) => void,
  ) {
    addEventListener("hashchange", () => {
      const state = current();
      if (state === null || location.hash.slice(1) !== writeState(state)) followed(this.read());
    });
  }

  read(): ViewState {
    return readState(location.hash);
  }

  /** Soon, and once for all changes until then. */
  save(): void {
    if (this.timer !== 0) return;
    this.timer = window.setTimeout(() => {
      this.timer = 0;
      const state = this.current();
      if (state !== null) replaceFragment(writeState(state));
    }, PERIOD);
  }
}

function replaceFragment(text: string): void {
  try {
    history.replaceState(null, "", `#${text}`);
  } catch {
    // A browser may forbid it (a page within a page): the view then has no address.
  }
}
