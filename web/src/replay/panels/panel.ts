// A part of the side of the page.

export interface Panel {
  /** The selection, the runs shown, or what is loaded changed. */
  rebuild(): void;
  /** The instant changed. */
  tick(): void;
  /** The colours changed; only what is drawn on canvas has to know. */
  recolour?(): void;
}
