import { Copy } from '../ui/copy.tsx'
import { LogText } from '../ui/log-text.tsx'

export interface JsonBlockProps {
  readonly text: string
  /** What the button copies, where that is not the text itself. */
  readonly copied?: string
  readonly label: string
}

/** A JSON text that is laid out already. */
export const JsonBlock = ({ text, copied = text, label }: JsonBlockProps) => (
  <div class="json">
    <Copy text={copied} label={`Copy ${label}`} />
    {/* biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls has to be reached by keyboard */}
    <pre class="code wrap" tabIndex={0}>
      <LogText text={text} most={6_000} class="" />
    </pre>
  </div>
)
