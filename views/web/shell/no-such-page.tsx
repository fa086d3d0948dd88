import { hrefTo } from '../ui/use-address.ts'
import { START } from './pages.ts'

export const NoSuchPage = () => (
  <div class="empty">
    <h1>There is no such page</h1>
    <p>The address may be misspelt, or from another version.</p>
    <a class="button" href={hrefTo({ path: [START] })}>
      Go to the event logs
    </a>
  </div>
)
