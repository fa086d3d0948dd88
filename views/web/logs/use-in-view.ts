import type { RefObject } from 'preact'
import { useEffect, useRef } from 'preact/hooks'

/**
 * Tells whether what the ref is given to is in view, whenever that changes and whenever `about` does; `margin` widens what
 * counts as view.
 */
export function useInView<Node extends Element>(
  onChange: (inView: boolean) => unknown,
  margin = '0px',
  about?: unknown,
): RefObject<Node> {
  const ref = useRef<Node>(null)
  const latest = useRef(onChange)
  latest.current = onChange
  useEffect(() => {
    if (ref.current === null) return
    // What changed more than once before the browser told is told in one go: the last is how it is.
    const observer = new IntersectionObserver((entries) => latest.current(entries.at(-1)?.isIntersecting === true), {
      rootMargin: margin,
    })
    observer.observe(ref.current)
    return () => observer.disconnect()
  }, [about])
  return ref
}
