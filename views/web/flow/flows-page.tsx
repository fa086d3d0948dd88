export const FlowsPage = () => (
  <div class="page">
    <h1>Flows</h1>
  </div>
)
