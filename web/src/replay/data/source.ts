// Where resources come from: the server that sent the page, or the page itself when it was exported as one file.

export interface Source {
  /** The bytes of a resource, or null if there is no such resource. */
  bytes(path: string): Promise<ArrayBuffer | null>;
  /** Whether it may have a resource: known without asking for it. */
  mayHave(path: string): boolean;
}

class Served implements Source {
  async bytes(path: string): Promise<ArrayBuffer | null> {
    const answer = await fetch(`data/${path}`);
    if (answer.status === 404) return null;
    if (!answer.ok) throw new Error(`${path}: the server answered ${answer.status}`);
    return answer.arrayBuffer();
  }

  mayHave(): boolean {
    return true;
  }
}

class Inlined implements Source {
  constructor(private readonly elements: Map<string, Element>) {}

  mayHave(path: string): boolean {
    return this.elements.has(path);
  }

  async bytes(path: string): Promise<ArrayBuffer | null> {
    const element = this.elements.get(path);
    if (!element) return null;
    const packed = atob((element.textContent ?? "").trim());
    const gzip = new Uint8Array(packed.length);
    for (let i = 0; i < packed.length; i++) gzip[i] = packed.charCodeAt(i);
    return new Response(new Blob([gzip]).stream().pipeThrough(new DecompressionStream("gzip"))).arrayBuffer();
  }
}

export function openSource(page: Document): Source {
  const elements = new Map<string, Element>();
  for (const element of page.querySelectorAll("script[data-path]")) {
    elements.set(element.getAttribute("data-path")!, element);
  }
  return elements.size > 0 ? new Inlined(elements) : new Served();
}

export async function json<T>(source: Source, path: string): Promise<T | null> {
  const bytes = await source.bytes(path);
  return bytes === null ? null : (JSON.parse(new TextDecoder().decode(bytes)) as T);
}
