export const RefusedPage = () => (
  <div class="page">
    <h1>Refused logs</h1>
  </div>
)
