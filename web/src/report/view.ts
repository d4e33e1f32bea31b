// What the reader wants to see: schemes that are hidden, and the one among all others. The latter holds for the whole
// page, so that one scheme can be followed through all figures.

type Listener = () => void;

class View {
  private readonly listeners: Listener[] = [];
  /** Stays after the pointer has gone. */
  private pinned: string | null = null;
  private hovered: string | null = null;

  onChange(listener: Listener): void {
    this.listeners.push(listener);
  }

  get focus(): string | null {
    return this.hovered ?? this.pinned;
  }

  isPinned(name: string): boolean {
    return this.pinned === name;
  }

  pin(name: string): void {
    this.pinned = this.pinned === name ? null : name;
    this.changed();
  }

  hover(name: string | null): void {
    if (this.hovered === name) return;
    this.hovered = name;
    this.changed();
  }

  private changed(): void {
    for (const listener of this.listeners) listener();
  }
}

export const view = new View();

/** What is hidden in one figure. */
export class Hidden {
  private readonly names = new Set<string>();

  has(name: string): boolean {
    return this.names.has(name);
  }

  set(name: string, hidden: boolean): void {
    if (hidden) this.names.add(name);
    else this.names.delete(name);
  }
}
