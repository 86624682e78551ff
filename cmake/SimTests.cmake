# Simulated clusters as tests: seeds that must pass, and bugs planted on purpose that must be found.
add_test(NAME sim_seeds COMMAND berth-sim --seeds 1..210)
berth_label(sim sim_seeds)
foreach(bug lost-requeue double-assume missed-forget)
  add_test(NAME sim_finds_${bug} COMMAND berth-sim --seeds 1..30 --plant ${bug} --expect-failure)
  berth_label(sim sim_finds_${bug})
endforeach()
