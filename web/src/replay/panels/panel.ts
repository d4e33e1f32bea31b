// A part of the side of the page.

export interface Panel {
  /** The selection, the runs shown, the colours, or what is loaded changed. */
  rebuild(): void;
  /** The instant changed. */
  tick(): void;
}
