# Simulated clusters as tests: seeds that must pass, and bugs planted on purpose that must be found.
add_test(NAME sim_seeds COMMAND berth-sim --seeds 1..210)
berth_label(sim sim_seeds)
add_test(NAME sim_replicas COMMAND berth-sim --replicas 3 --seeds 1..30 --steps 600)
berth_label(sim sim_replicas)
foreach(bug early-barrier no-list late-deadline no-fence no-timeout dirty-release)
  add_test(NAME sim_replicas_finds_${bug}
           COMMAND berth-sim --replicas 3 --seeds 1..30 --steps 600 --plant ${bug} --expect-failure)
  berth_label(sim sim_replicas_finds_${bug})
endforeach()
add_test(NAME sim_gangs COMMAND berth-sim --profile gangs --seeds 1..60)
berth_label(sim sim_gangs)
add_test(NAME sim_finds_split-gang
         COMMAND berth-sim --profile gangs --seeds 1..10 --plant split-gang --expect-failure)
berth_label(sim sim_finds_split-gang)
foreach(bug lost-requeue double-assume missed-forget)
  add_test(NAME sim_finds_${bug} COMMAND berth-sim --seeds 1..30 --plant ${bug} --expect-failure)
  berth_label(sim sim_finds_${bug})
endforeach()
