export const TeamPage = () => (
  <div class="page prose">
    <h1>Team</h1>
  </div>
)
