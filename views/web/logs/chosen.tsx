import type { Choices } from '../api/types.ts'
import { visible } from '../lib/format.ts'
import { Icon } from '../ui/icon.tsx'
import { go } from '../ui/use-address.ts'

/** What was chosen in the rail, each to be taken away. */
export const Chosen = ({ chosen }: Pick<Choices, 'chosen'>) => (
  <div class="chips">
    {chosen.map(({ name, label }) => (
      <button key={name} type="button" class="chip" onClick={() => go({ params: { [name]: undefined } })}>
        <span class="hidden">Remove</span>
        <span class="muted">{name}</span>
        <bdi class="cut">{visible(label)}</bdi>
        <span class="x">
          <Icon name="close" />
        </span>
      </button>
    ))}
  </div>
)
